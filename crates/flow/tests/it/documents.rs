//! Documents that are fine, between them with every verb and key: what mutants are made of.

pub const GOOD: &[(&str, &str)] = &[
    ("report", REPORT),
    ("models", MODELS),
    ("network", NETWORK),
    ("loops", LOOPS),
    ("shell", SHELL),
    ("edges", EDGES),
];

const REPORT: &str = r#"schema: nika/workflow@1
name: todo-report
description: Lists what is left to do, and says so in a report.

inputs:
  words: {type: string, default: "TODO|FIXME", description: What to look for}

permits:
  fs:
    read: ["**"]
    write: ["report/**"]
  exec: ["git log *"]
  tools: [grep, write]

tasks:
  - id: find
    invoke:
      tool: grep
      params: {pattern: "{{ inputs.words }}", output_mode: count}

  - id: history
    exec: [git, log, --oneline, "-5"]
    on_error: {value: "no history"}

  - id: write
    use:
      found: find
      history: "history ?? 'none'"
    invoke:
      tool: write
      params:
        file_path: report/todo.md
        content: |
          # What is left

          {{ use.found.total }} places.

          {{ use.history }}

outputs:
  places: "{{ tasks.find.total }}"
"#;

const MODELS: &str = r#"schema: nika/workflow@1
provider: scripted
model: a-script.yaml
permits: {fs: {read: ["docs/**"]}, tools: [read]}
limits: {parallel: 2, timeout: 10m, cost_usd: 1.5, tokens: 20000}
inputs:
  topic: {type: string}
  count: {type: number, default: 3}
tasks:
  - id: ideas
    infer:
      prompt: "Name {{ inputs.count }} ideas about {{ inputs.topic }}."
      system: Be short.
    output:
      schema:
        type: object
        properties:
          ideas: {type: array, items: {type: string}}
        required: [ideas]
  - id: expand
    use: {ideas: ideas.ideas}
    for_each: "{{ use.ideas }}"
    as: idea
    concurrency: 2
    fail_fast: false
    infer: "Say more about {{ idea }}."
  - id: check
    use: {all: expand}
    agent:
      prompt: "Check these: {{ use.all | join('; ') }}"
      tools: [read]
      max_turns: 4
      token_budget: 5000
    output: {format: json}
    retry: {attempts: 3, backoff: 2s, factor: 1.5, max_backoff: 10s}
outputs:
  checked: "{{ tasks.check }}"
  all: "{{ tasks.expand | length }} of {{ tasks.ideas.ideas | length }}"
"#;

const NETWORK: &str = r#"schema: nika/workflow@1
secrets: [API_TOKEN]
permits:
  net: [api.example.com, "*.example.org"]
inputs:
  id: {type: number, default: 7}
tasks:
  - id: status
    fetch: https://api.example.com/status
    timeout: 5s
    retry: 2
  - id: item
    depends_on: [status]
    fetch:
      url: "https://api.example.com/items/{{ inputs.id }}"
      headers: {authorization: "Bearer {{ secrets.API_TOKEN }}"}
      read: json
  - id: send
    use:
      name: {path: item.name, default: unnamed}
    when: use.name != 'unnamed'
    fetch:
      url: https://hooks.example.org/in
      method: POST
      body: {name: "{{ use.name }}", tags: [a, "{{ inputs.id }}"], deep: {x: null}}
      read: answer
    on_error: skip
outputs:
  status: "{{ tasks.status | trim }}"
"#;

const LOOPS: &str = r#"schema: nika/workflow@1
permits:
  fs: {read: ["src/**", "/Cargo.toml"], write: ["out/**"]}
  tools: [read, write]
inputs:
  files: {type: list, default: [a.rs, b.rs]}
  flag: {type: boolean, default: true}
tasks:
  - id: each
    for_each: {items: [src/a.rs, src/b.rs], as: path, concurrency: 4}
    invoke: {tool: read, params: {file_path: "src/{{ path }}", limit: 10}}
  - id: given
    for_each: "{{ inputs.files }}"
    when: inputs.flag and inputs.files | length > 1
    invoke:
      tool: write
      params: {file_path: "out/{{ item }}", content: "{% for x in inputs.files %}{{ x }}\n{% endfor %}"}
  - id: last
    depends_on: each
    use: {first: "given[0] ?? {\"none\": true}"}
    invoke: {tool: read, params: {file_path: Cargo.toml}}
"#;

const SHELL: &str = r#"schema: nika/workflow@1
permits:
  fs: {read: ["**"], write: ["**"]}
  exec: ["wc *", "cat *", "sort *", "printenv *", "cargo test *"]
  env: [LANG]
tasks:
  - id: count
    exec:
      command: [wc, -l, README.md]
      capture: all
      ok_exit: [0, 1]
  - id: sorted
    exec: {shell: "cat README.md | sort -u > out/sorted.txt", cwd: .}
  - id: test
    depends_on: [count]
    exec: [cargo, test, --quiet]
    timeout: 5m
  - id: env
    use: {lines: count.stdout}
    exec:
      command: [printenv, LINES_SEEN]
      env: {LINES_SEEN: "{{ use.lines }}", LOCALE: "{{ env.LANG ?? 'C' }}"}
      stdin: "{{ use.lines }}"
    on_error: {value: {lines: 0}}
outputs:
  exit: "{{ tasks.count.exit }}"
"#;

const EDGES: &str = r#"schema: nika/workflow@1
permits: {exec: ["echo *"]}
tasks:
  - {id: a, exec: [echo, a]}
  - {id: b, exec: [echo, b]}
  - {id: c-1, exec: [echo, c]}
  - id: d
    use: {x: c-1, y: "a ?? 'x'"}
    exec: [echo, "{{ use.x ~ use.y }}", "{{ use.x if use.y == 'a' else 'no' }}"]
flows:
  - {source: a, target: [b, c-1]}
  - {source: b, target: d}
outputs:
  c: "{{ tasks['c-1'] }}"
  d: {d: "{{ tasks.d }}", n: 3}
"#;

//! Tools that run code of the workspace: their names, and what some of their words do besides.
//!
//! A table alone; `build` reads it.

/// Tools that run code of the workspace. What they do besides is in [`TOOLS`].
pub(super) const TOOL_NAMES: &str = "make gmake bmake ninja bazel bazelisk buck2 gradle mvn mvnd ant sbt mill lein \
    clojure clj mix rebar3 \
    swift xcodebuild zig stack cabal ghc dune opam crystal shards nim nimble dub flutter dart tox nox pytest \
    py.test unittest nose2 \
    coverage ruff black isort autopep8 yapf autoflake pyupgrade mypy pyright pyre pytype flake8 pylint pycodestyle \
    pydocstyle bandit vulture \
    djlint sphinx-build mkdocs eslint eslint_d prettier biome oxlint standard xo tslint stylelint tsc vue-tsc tsx \
    ts-node swc jest vitest mocha ava \
    jasmine karma cypress playwright webpack vite rollup esbuild parcel tsup turbo nx lerna rush ng next nuxt astro \
    svelte-check \
    storybook nodemon babel markdownlint markdownlint-cli2 cspell commitlint \
    gcc g++ cc c++ clang clang++ cpp ld ld.lld gold as ar ranlib nm-new strip gfortran nasm yasm nvcc emcc javac \
    kotlinc scalac groovyc \
    clang-format clang-tidy cppcheck cpplint include-what-you-use ctest cpack autoconf automake autoreconf \
    libtoolize aclocal scons waf qmake \
    rake rspec rubocop standardrb minitest phpunit pest phpstan psalm php-cs-fixer phpcs phpcbf golangci-lint \
    staticcheck goimports \
    gofumpt gotestsum golint errcheck revive govulncheck gotests mockgen stringer wire protoc buf protoc-gen-go \
    thrift flatc capnp bats shfmt \
    ktlint detekt checkstyle spotbugs google-java-format scalafmt scalafix stylua luacheck luac busted \
    terraform-docs tflint ormolu fourmolu \
    hlint hindent ocamlformat elm elm-format elm-test just task mage cmake-format taplo yamlfmt dprint treefmt \
    nixfmt alejandra deno-fmt flex bison codespell optipng plantuml tree-sitter invoke inv \
    wasm-pack wasm-bindgen trunk cross maturin sqlfluff sqlc ctags etags gtags cscope doxygen bindgen cbindgen lcov \
    gcov gcovr \
    prove actionlint vale proselint alex remark textlint typst pdflatex xelatex lualatex latexmk bibtex biber latex \
    tectonic hugo jekyll zola mdbook \
    ast-grep comby swiftlint swiftformat templ gqlgen oapi-codegen gosec ineffassign misspell deadcode \
    pydoclint pyflakes docformatter deptry basedpyright refurb nbqa nbstripout mutmut behave robot cythonize \
    rslib rsbuild rspack rolldown oxfmt knip madge depcheck typedoc jsdoc publint vitepress gulp grunt tap \
    graphql-codegen openapi-typescript lint-staged run-s run-p npm-run-all svelte-kit remix \
    pint rector infection deptrac brakeman erblint srb steep reek csharpier buildifier gazelle \
    uncrustify astyle gersemi cmake-lint shellspec mdformat chktex asciidoctor gleam iverilog verilator \
    statix deadnix xcodegen tuist \
    mockery ginkgo swig cython snakemake ocamlfind purs spago d2 svgo htmlhint sass lessc postcss tailwindcss fpc odin \
    cfn-lint flask \
    swiftc erlc javadoc ldc2 gdc dmd fpm cobc tinygo wat2wasm wasm2wat wasm-opt wasm-strip wasm-objdump coqc agda idris2 \
    lean lake solc raco scala-cli pants buck vvp re2c byacc yacc antlr4 antlr bsc rescript forge hardhat anchor \
    truffle solhint slither riscv64-unknown-elf-gcc riscv64-linux-gnu-gcc arm-none-eabi-gcc arm-none-eabi-g++ \
    arm-linux-gnueabihf-gcc aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ x86_64-w64-mingw32-gcc x86_64-w64-mingw32-g++ \
    i686-w64-mingw32-gcc avr-gcc musl-gcc gcc-9 gcc-10 gcc-11 gcc-12 gcc-13 gcc-14 gcc-15 g++-9 g++-10 g++-11 g++-12 \
    g++-13 g++-14 g++-15 clang-14 clang-15 clang-16 clang-17 clang-18 clang-19 clang-20 clang++-14 clang++-15 \
    clang++-16 clang++-17 clang++-18 clang++-19 clang++-20 \
    msgfmt msgmerge msginit xgettext msgcat msgattrib msgconv msguniq openapi-generator openapi-generator-cli \
    swagger-codegen swag eleventy cljfmt addlicense rustywind code2prompt quarto marp mmdc jupytext papermill \
    rsvg-convert pngquant jpegoptim cwebp dwebp gifsicle qpdf pdftk pdftoppm pdftocairo pdfunite pdfseparate tesseract \
    inkscape pyinstrument kernprof scalene pyinstaller doit luigi gunicorn uvicorn hypercorn dbt wails goreleaser \
    patch-package jscodeshift ts-prune depcruise syncpack license-checker terser uglifyjs redocly spectral \
    vue-cli-service gatsby hexo quasar craco ionic expo cap ncc unbuild microbundle stryker api-extractor \
    interrogate xenon radon djhtml ty pip-compile ziglint idf.py west arduino-cli platformio pio";

/// A tool: its names; a lone word that only prints; words that reach the network (the first that is no option);
/// words or options, up to `=`, that run a text of the command line or write where it says.
pub(super) struct Tool {
    pub names: &'static str,
    pub info: &'static str,
    pub net: &'static str,
    pub ask: &'static str,
}

const MAKE: Tool = Tool {
    names: "bmake",
    info: "",
    net: "publish deploy release upload push login",
    ask: "--eval -E SHELL .SHELLFLAGS MAKEFLAGS - -f- -f/dev/stdin",
};

const TASKS: Tool = Tool {
    names: "task mage",
    info: "",
    net: "publish deploy release push --download",
    ask: "-e --execute -E --execute-continue -p --execute-print --shell --shell-arg -c --command -f- -",
};

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: "forge",
        info: "-V",
        net: "install i update u create c script verify-contract v clone init soldeer remappings-none --fork-url \
        --rpc-url -f --broadcast",
        ask: "",
    },
    Tool {
        names: "hardhat truffle anchor",
        info: "",
        net: "verify deploy migrate run ignition publish upgrade \
        console node --network --provider.cluster",
        ask: "",
    },
    Tool { names: "lake", info: "", net: "update upgrade new init cache upload", ask: "env exe script" },
    Tool {
        names: "agda idris2 coqc lean",
        info: "-v",
        net: "--install",
        ask: "-x --exec --client --interaction --interactive \
        -I --run --stdin --server --ide-mode",
    },
    Tool { names: "swiftc dmd ldc2 gdc", info: "-version -v", net: "", ask: "-run -frontend -i" },
    Tool { names: "quarto", info: "", net: "publish add install update use", ask: "run pandoc typst" },
    Tool { names: "jupytext", info: "", net: "", ask: "--pipe --check --pipe-fmt" },
    Tool { names: "inkscape", info: "-V", net: "", ask: "--shell --actions --action-list --actions-file" },
    Tool { names: "pyinstrument kernprof scalene", info: "", net: "", ask: "-c --eval -s --setup" },
    Tool {
        names: "dbt",
        info: "",
        net: "run build test seed snapshot docs debug deps init source show retry clone \
        freshness run-operation",
        ask: "",
    },
    Tool { names: "goreleaser", info: "-v", net: "release publish announce continue r", ask: "" },
    Tool {
        names: "expo ionic cap quasar gatsby hexo",
        info: "",
        net: "login publish deploy upload install add prebuild \
        update doctor telemetry start open d",
        ask: "",
    },
    Tool { names: "raco", info: "", net: "install add pkg fetch import-dependencies", ask: "" },
    Tool { names: "scala-cli", info: "", net: "publish install-home update", ask: "-e --execute-script --command" },
    Tool { names: "pip-compile", info: "", net: "_", ask: "" },
    Tool { names: "redocly spectral api-extractor", info: "", net: "push login bundle-remote", ask: "" },
    Tool {
        names: "west idf.py arduino-cli platformio pio",
        info: "",
        net: "init update upgrade core lib board upload \
        flash erase-flash monitor debug attach pkg account remote team org access package settings burn-bootloader \
        device dfu -t --upload-port -p --port",
        ask: "",
    },
    Tool { names: "gunicorn uvicorn hypercorn", info: "-v", net: "", ask: "" },
    Tool { names: "make gmake", info: "-v -h", net: MAKE.net, ask: MAKE.ask },
    // To these `-v` is to say what they run.
    MAKE,
    Tool { names: "just rake", info: "-V", net: TASKS.net, ask: TASKS.ask },
    TASKS,
    Tool { names: "bazel bazelisk", info: "", net: "mod fetch sync", ask: "--run_under" },
    Tool {
        names: "gradle",
        info: "-v -h -?",
        net: "publish* upload* deploy* closeAndRelease* release jib dockerPush* artifactoryPublish bintrayUpload \
        sonar sonarqube --scan wrapper-update",
        ask: "",
    },
    Tool {
        names: "mvn mvnd",
        info: "-v -version -h -help",
        net: "deploy release:perform release:prepare release:branch release:stage scm:checkin scm:add scm:tag scm:untag \
        scm:update scm:checkout scm:export scm:bootstrap scm:branch scm:remove scm:list scm:changelog scm:remote-info \
        site-deploy site:deploy site:stage-deploy gpg:sign-and-deploy-file sonar deploy:* wagon:* jib:build \
        spring-boot:build-image docker:push dockerfile:push dependency:get nexus-staging:* archetype:generate versions:* \
        help:effective-settings",
        ask: "exec:exec -Dexec.executable",
    },
    Tool {
        names: "ant sbt mill",
        info: "-version",
        net: "publish* deploy upload release sonatype* bintray*",
        ask: "eval",
    },
    Tool { names: "rebar3", info: "", net: "hex", ask: "shell" },
    Tool { names: "mkdocs", info: "-V", net: "gh-deploy", ask: "" },
    Tool { names: "busted", info: "", net: "", ask: "-e" },
    Tool { names: "pylint", info: "", net: "", ask: "--init-hook" },
    Tool {
        names: "mix",
        info: "-v",
        net: "deps.get deps.update hex.publish local.hex local.rebar archive.install \
        hex.info hex.search",
        ask: "-e eval --eval",
    },
    Tool { names: "swift", info: "-version", net: "package-registry", ask: "-e repl" },
    Tool { names: "zig", info: "version", net: "fetch", ask: "" },
    Tool {
        names: "stack cabal opam nimble shards dub",
        info: "-V --numeric-version",
        net: "update upload install \
        upgrade fetch publish register setup init",
        ask: "exec eval -e",
    },
    Tool { names: "ghc", info: "-V --numeric-version", net: "", ask: "-e" },
    Tool { names: "flutter dart", info: "", net: "pub upgrade channel publish", ask: "" },
    Tool { names: "tsc vue-tsc", info: "-v", net: "", ask: "" },
    Tool { names: "tsx ts-node", info: "-v", net: "", ask: "-e --eval -p --print -pe -" },
    Tool { names: "playwright cypress", info: "-V", net: "install install-deps", ask: "open codegen" },
    Tool { names: "eslint jest prettier mocha webpack vite rollup ava", info: "-v", net: "", ask: "" },
    Tool {
        names: "turbo nx lerna rush ng next nuxt",
        info: "",
        net: "login link publish release add deploy update install \
        telemetry connect",
        ask: "exec",
    },
    Tool { names: "nodemon", info: "", net: "", ask: "-x --exec" },
    Tool { names: "ruff", info: "version", net: "", ask: "" },
    Tool { names: "mypy", info: "-V", net: "", ask: "--install-types -c --python-executable" },
    Tool { names: "ctest", info: "", net: "", ask: "--launch --test-command --build-makeprogram --build-and-test" },
    Tool { names: "coverage", info: "", net: "", ask: "" },
    Tool {
        names: "gcc g++ cc c++ clang clang++ gfortran riscv64-unknown-elf-gcc riscv64-linux-gnu-gcc arm-none-eabi-gcc \
        arm-none-eabi-g++ arm-linux-gnueabihf-gcc aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ x86_64-w64-mingw32-gcc \
        x86_64-w64-mingw32-g++ i686-w64-mingw32-gcc avr-gcc musl-gcc gcc-9 gcc-10 gcc-11 gcc-12 gcc-13 gcc-14 gcc-15 \
        g++-9 g++-10 g++-11 g++-12 g++-13 g++-14 g++-15 clang-14 clang-15 clang-16 clang-17 clang-18 clang-19 clang-20 \
        clang++-14 clang++-15 clang++-16 clang++-17 clang++-18 clang++-19 clang++-20",
        info: "-v -dumpversion -dumpmachine -dumpfullversion -print-search-dirs --print-search-dirs -print-targets \
        --print-targets -print-resource-dir --print-resource-dir -print-multiarch -print-sysroot -print-multi-lib \
        -print-effective-triple -print-libgcc-file-name -print-supported-cpus --print-supported-cpus --target-help -dumpspecs",
        net: "",
        ask: "-wrapper -fplugin -",
    },
    Tool { names: "ld", info: "-v -V --verbose", net: "", ask: "-plugin --plugin" },
    Tool { names: "ar", info: "-v -V", net: "", ask: "-plugin --plugin" },
    // Told its version, it goes on with its standard input.
    Tool { names: "as", info: "", net: "", ask: "-plugin --plugin" },
    Tool { names: "javac kotlinc scalac", info: "-version", net: "", ask: "-plugin --plugin" },
    Tool { names: "buf", info: "", net: "push registry dep mod curl", ask: "" },
    Tool { names: "golangci-lint", info: "version", net: "", ask: "" },
    Tool { names: "cross wasm-pack maturin", info: "", net: "publish upload login install", ask: "" },
    Tool { names: "tflint vale", info: "-v", net: "--init sync", ask: "" },
    Tool { names: "elm", info: "", net: "install publish diff bump", ask: "" },
    Tool { names: "prove", info: "-V", net: "", ask: "-e --exec --source -P" },
    Tool { names: "hugo jekyll mdbook", info: "version", net: "deploy mod", ask: "" },
    Tool {
        names: "pdflatex xelatex lualatex latex latexmk",
        info: "",
        net: "",
        ask: "-shell-escape --shell-escape \
        -enable-write18 --enable-write18 -e -usepretex -pretex",
    },
    Tool { names: "clojure clj lein", info: "", net: "deploy deps upgrade release", ask: "-e -M -X -T eval" },
    Tool { names: "deno-fmt dune crystal", info: "", net: "", ask: "eval exec" },
    Tool { names: "tox nox", info: "", net: "", ask: "exec" },
    Tool {
        names: "invoke inv",
        info: "-V",
        net: "publish deploy release upload push login",
        ask: "-c --collection -r --search-root -f --config",
    },
    Tool { names: "tree-sitter", info: "", net: "playground init-config", ask: "" },
    Tool { names: "plantuml", info: "-version", net: "", ask: "-pipe -ftp -picoweb -gui" },
    Tool { names: "pytest py.test", info: "", net: "--pastebin", ask: "" },
    Tool { names: "ast-grep", info: "-V", net: "", ask: "lsp new" },
    Tool { names: "flask", info: "", net: "--host", ask: "shell -h" },
    Tool { names: "snakemake", info: "-v", net: "", ask: "--cluster --profile --executor" },
    Tool { names: "gulp", info: "-v", net: "publish* deploy* release upload", ask: "" },
    Tool { names: "grunt", info: "-V", net: "publish* deploy* release upload", ask: "" },
    Tool { names: "gleam", info: "", net: "publish add deps update hex docs", ask: "shell" },
    Tool { names: "tuist", info: "", net: "install registry cloud cache share", ask: "" },
    Tool { names: "run-s run-p npm-run-all", info: "-v", net: "publish* deploy* release*", ask: "" },
    Tool { names: "bison flex", info: "-V", net: "", ask: "" },
];

//! What build tools do, for both sides.

use super::super::super::fact::Fact;
use super::super::testing::{all_harmless, facts, none_harmless};

#[test]
fn what_only_prints() {
    all_harmless(&[
        "cargo --version",
        "cargo -V",
        "cargo version",
        "cargo --list",
        "cargo metadata --no-deps \
            --format-version 1",
        "cargo \
            locate-project",
        "cargo pkgid",
        "cargo +nightly --version",
        "rustc --version",
        "rustc -vV",
        "rustc \
            --print sysroot",
        "rustfmt --check src/lib.rs",
        "rustfmt --version",
        "rustup show",
        "rustup toolchain list",
        "rustup \
            target list --installed",
        "rustup --version",
        "go version",
        "go env",
        "go env GOPATH",
        "go list \
            ./...",
        "go list -m all",
        "go doc fmt.Println",
        "gofmt -l .",
        "gofmt -d src",
        "npm --version",
        "npm -v",
        "npm ls",
        "npm ls --depth=0",
        "npm list -g --depth 0",
        "npm root",
        "npm \
            prefix",
        "npm pkg get name",
        "npm config get registry",
        "npm run",
        "npm version",
        "npm \
            --help",
        "npm why x",
        "pnpm --version",
        "pnpm \
            ls",
        "pnpm list --depth 0",
        "bun --version",
        "poetry --version",
        "poetry env info",
        "bundle \
            --version",
        "dotnet --version",
        "dotnet \
            --info",
        "dotnet --list-sdks",
        "make --version",
        "cmake --version",
        "gcc --version",
        "gcc -v",
        "gcc \
            -dumpversion",
        "g++ --version",
        "clang --version",
        "javac -version",
        "mvn --version",
        "mvn -v",
        "gradle --version",
        "tsc \
            --version",
        "tsc -v",
        "eslint --version",
        "prettier --version",
        "jest --version",
        "pytest \
            --version",
        "ruff --version",
        "ruff version",
        "black --version",
        "mypy --version",
        "protoc \
            --version",
        "shellcheck script.sh",
        "shellcheck -S warning -e SC2086 a.sh",
        "shellcheck --version",
        "yamllint .",
        "yamllint -d relaxed \
            a.yml",
        "hadolint Dockerfile",
        "tokei",
        "tokei src",
        "cloc .",
        "pre-commit --version",
        "swift \
            --version",
        "zig version",
        "mix --version",
        "npx --version",
        "bazel --version",
        "ninja \
            --version",
        "meson --version",
    ]);
}

#[test]
fn what_prints_by_a_program_of_the_project_does_not_only_print() {
    none_harmless(&[
        "cargo metadata --offline --format-version=1",
        "cargo tree --offline",
        "yarn list",
        "yarn why x",
        "poetry show",
        "poetry show --tree",
        "poetry check",
        "composer show",
        "uv pip freeze",
        "packer version",
        "delta a b",
    ]);
    all_harmless(&["cargo metadata --no-deps", "rustc -V", "cargo --version", "delta --paging never a b"]);
}

#[test]
fn what_does_more() {
    none_harmless(&[
        "cargo build",
        "cargo check",
        "cargo tree",
        "cargo metadata",
        "cargo publish",
        "cargo install \
            x",
        "cargo run -- --version",
        "cargo clean",
        "cargo fmt --check",
        "cargo --config a=b --version \
            x",
        "cargo foo",
        "cargo test --help -- x",
        "rustc a.rs",
        "rustc --print sysroot a.rs",
        "rustfmt \
            src/lib.rs",
        "rustup update",
        "rustup doc",
        "go build ./...",
        "go run .",
        "go test ./...",
        "go env -w A=b",
        "go list -toolexec ./x ./...",
        "go list \
            -mod=mod ./...",
        "go get x",
        "go mod tidy",
        "go install x@latest",
        "go vet -vettool=./x",
        "gofmt -w \
            .",
        "go version -x",
        "npm test",
        "npm install",
        "npm ci",
        "npm version patch",
        "npm config get \
            //x/:_authToken",
        "npm config set a b",
        "npm view x",
        "npm outdated",
        "npm audit",
        "npm exec x",
        "npm pkg set a=b",
        "npx cowsay hi",
        "npx \
            eslint .",
        "yarn",
        "yarn add x",
        "yarn test",
        "pnpm install",
        "pnpm test",
        "pnpm dlx x",
        "bun run \
            x",
        "bun x y",
        "bunx x",
        "poetry install",
        "poetry run x",
        "poetry config --list",
        "bundle exec \
            rake",
        "bundle install",
        "make",
        "make -n",
        "make clean",
        "cmake -B build",
        "cmake -E rm x",
        "gcc a.c",
        "gcc -v a.c",
        "javac A.java",
        "mvn test",
        "gradle build",
        "tsc",
        "eslint \
            --fix src",
        "eslint .",
        "prettier --write x",
        "prettier --check .",
        "pytest",
        "ruff check .",
        "ruff \
            format",
        "black .",
        "black --check .",
        "mypy .",
        "flake8",
        "shellcheck --rcfile /etc/x \
            a.sh",
        "yamllint /etc",
        "pre-commit run",
        "pre-commit install",
        "ctags -R .",
        "npm init -y",
        "npm run build",
        "dotnet build",
        "composer install",
        "tokei --files \
            /etc",
        "cargo $x",
        "npm $x",
        "make $x",
        "shellcheck --unknown a.sh",
        "hadolint -x a",
        "typos \
            -w",
        "ghc -e main",
        "valgrind ls",
    ]);
}

/// Allowed in the workspace: nothing that needs a question.
#[test]
fn builds_and_tests_are_code_of_the_workspace() {
    let lines = [
        "cargo check",
        "cargo build --release",
        "cargo test --workspace -- --nocapture",
        "cargo clippy \
            --all-targets -- -D warnings",
        "cargo fmt",
        "cargo fmt --check",
        "cargo run --bin x -- \
            --flag",
        "cargo bench",
        "cargo doc --no-deps",
        "cargo nextest run",
        "cargo +nightly test",
        "cargo \
            clean",
        "cargo tree",
        "cargo metadata",
        "rustc src/main.rs",
        "rustfmt src/lib.rs",
        "go build ./...",
        "go test ./... -run X -v",
        "go vet ./...",
        "go fmt ./...",
        "go run .",
        "gofmt -w \
            .",
        "go mod graph",
        "npm test",
        "npm run build",
        "npm run lint -- --fix",
        "npm t",
        "yarn \
            test",
        "yarn build",
        "yarn run lint",
        "pnpm test",
        "pnpm run build",
        "pnpm lint",
        "bun test",
        "bun \
            run build",
        "make",
        "make -j4 all",
        "make test",
        "make clean",
        "ninja -C build",
        "cmake -B build \
            -DCMAKE_BUILD_TYPE=Release",
        "cmake --build build",
        "ctest --test-dir build",
        "meson setup build",
        "bazel test //...",
        "gradle build",
        "gradle test \
            --info",
        "mvn -q test",
        "mvn package",
        "sbt test",
        "mix test",
        "dotnet build",
        "dotnet \
            test",
        "swift build",
        "zig build test",
        "stack test",
        "cabal build",
        "tox",
        "nox -s tests",
        "pytest \
            -x -q tests/test_a.py::test_b",
        "pytest -k 'a or b'",
        "ruff check . --fix",
        "ruff format .",
        "black \
            .",
        "isort .",
        "mypy src",
        "pyright",
        "flake8",
        "pylint src",
        "eslint src --fix",
        "prettier --write src/index.ts",
        "prettier --check .",
        "tsc --noEmit",
        "tsc -p \
            tsconfig.json",
        "jest",
        "vitest run",
        "mocha",
        "playwright test",
        "webpack",
        "vite build",
        "rollup \
            -c",
        "esbuild a.ts --bundle --outfile=out.js",
        "markdownlint README.md",
        "pre-commit run \
            --all-files",
        "gcc -O2 -o x a.c",
        "g++ -std=c++17 a.cpp",
        "clang a.c",
        "ld -o x a.o",
        "as \
            a.s",
        "javac -d out A.java",
        "kotlinc A.kt",
        "poetry run pytest",
        "uv run pytest",
        "pipenv run pytest",
        "bundle exec rspec",
        "rake \
            test",
        "phpunit",
        "rspec",
        "rubocop -a",
        "golangci-lint run",
        "staticcheck ./...",
        "clang-format -i \
            src/a.c",
        "protoc --go_out=. a.proto",
        "buf lint",
        "terraform validate",
        "terraform fmt",
        "helm \
            template ./chart",
        "npx --no-install eslint .",
        "npm init -y",
        "ctags -R .",
        "npm pack",
        "cargo \
            test *",
        "shfmt -w a.sh",
        "black src/*.py",
    ];
    let asked = |fact: &Fact| !matches!(fact, Fact::Code(_) | Fact::Read(_) | Fact::Write(_) | Fact::Delete(_));
    let wrong: Vec<_> = lines
        .iter()
        .map(|line| (line, facts(line)))
        .filter(|(_, facts)| facts.iter().any(asked) || facts.is_empty())
        .collect();
    assert!(wrong.is_empty(), "these should be code of the workspace: {wrong:#?}");
}

#[test]
fn text_and_network_need_a_question() {
    let lines = [
        "make --eval x",
        "make -f -",
        "make SHELL=./x",
        "cargo publish",
        "cargo install x",
        "npm install",
        "npm \
            ci",
        "npm publish",
        "npx cowsay hi",
        "yarn add x",
        "yarn",
        "pnpm add x",
        "go get x",
        "go test -exec \
            ./x ./...",
        "rake -e x",
        "ghc -e x",
        "mix deps.get",
        "mvn deploy",
        "gradle publish",
        "playwright \
            install",
        "poetry install",
        "bundle install",
        "pip install x",
        "cargo $SUB",
        "pre-commit autoupdate",
        "cmake -E server",
        "ts-node \
            -e x",
        "bun -e x",
        "go clean -modcache",
        "cargo update",
        "rustup update",
        "go run \
            x@latest",
        "dotnet restore",
        "composer install",
        "npm exec x",
        "uv sync",
        "stack exec --package x y",
    ];
    let asked = |fact: &Fact| matches!(fact, Fact::Opaque(_) | Fact::Net(_) | Fact::System(_));
    let wrong: Vec<_> = lines.iter().filter(|line| !facts(line).iter().any(asked)).collect();
    assert!(wrong.is_empty(), "these should be asked: {wrong:#?}");
}

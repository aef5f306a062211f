//! Where tools keep in the home what they can make or fetch again, and need to write to work at all.

/// A directory below the home, and the variable that gives its tool another place where there is none: where it does not
/// work without, and hardly has one elsewhere then.
///
/// Sources: the tools' own documentation (Go's `GOCACHE`, Gradle's user home, NuGet's `NUGET_PACKAGES`, npm's `cache`, the
/// XDG base directories).
pub const CACHES: &[(&str, Option<&str>)] = &[
    (".bun/install/cache", None),
    (".bundle/cache", None),
    (".cabal/packages", None),
    (".cache", Some("XDG_CACHE_HOME")),
    (".cargo/git", None),
    (".cargo/registry", None),
    (".ccache", None),
    (".composer/cache", None),
    (".conan2", Some("CONAN_HOME")),
    (".dotnet", Some("DOTNET_CLI_HOME")),
    (".gradle", Some("GRADLE_USER_HOME")),
    (".hex", None),
    (".ivy2", None),
    (".konan", None),
    (".local/share/NuGet", None),
    (".local/share/pnpm/store", None),
    (".m2/repository", None),
    (".m2/wrapper", None),
    (".mix", None),
    (".npm", None),
    (".nuget", Some("NUGET_PACKAGES")),
    (".sbt", None),
    (".stack", None),
    (".yarn/berry", None),
    ("go/pkg", None),
];

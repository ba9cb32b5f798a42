"""Programs whose second word names a family of commands: the third says what happens.

A rule such as `gh pr *` would allow `gh pr merge` to somebody who meant `gh pr list`.
"""

from __future__ import annotations

GROUPS: dict[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in {
        "npm": "run run-script config cache token owner access team",
        "pnpm": "run config store",
        "yarn": "run config cache workspaces",
        "bun": "run pm",
        "deno": "task",
        "composer": "run run-script config global",
        "docker": "compose container image volume network system builder buildx context stack service",
        "podman": "compose container image volume network system pod machine",
        "git": "remote stash worktree submodule config bisect notes lfs sparse-checkout maintenance",
        "gh": "pr issue repo release run workflow secret auth gist cache label project ruleset variable",
        "glab": "mr issue repo release ci variable auth",
        "kubectl": "config rollout create set auth certificate",
        "helm": "repo plugin dependency registry",
        "terraform": "state workspace providers",
        "tofu": "state workspace providers",
        "aws": "s3 s3api ec2 iam lambda ecs eks rds ssm sts logs cloudformation dynamodb secretsmanager",
        "gcloud": "compute container iam projects run sql storage functions auth config services",
        "az": "vm aks acr group storage webapp functionapp keyvault account ad network",
        "cargo": "hack nextest component",
        "rustup": "toolchain target component override self",
        "go": "mod tool work",
        "dotnet": "tool nuget sln ef workload",
        "pip": "config cache",
        "uv": "pip tool python cache self",
        "poetry": "env config source self cache",
        "conda": "env config",
        "brew": "services bundle tap",
        "flutter": "pub config emulators",
        "firebase": "functions hosting",
        "heroku": "config",
        "supabase": "db functions migration",
        "wrangler": "d1 r2 kv pages secret",
        "bundle": "config",
        "rails": "db",
        "ng": "config",
        "nx": "run",
        "turbo": "run",
    }.items()
}

"""Variables: which are harmless, which hold commands, which change how bash finds commands."""

from __future__ import annotations

from checkrein.facts.shell_words import words

SAFE: frozenset[str] = words(
    "NODE_ENV LANG LANGUAGE LC_ALL LC_CTYPE LC_MESSAGES LC_NUMERIC LC_TIME LC_COLLATE TZ NO_COLOR FORCE_COLOR"
    " CLICOLOR CLICOLOR_FORCE TERM COLORTERM COLUMNS LINES CI RUST_BACKTRACE RUST_LOG PYTHONUNBUFFERED"
    " PYTHONDONTWRITEBYTECODE PYTHONIOENCODING PYTHONUTF8 PYTHONHASHSEED GOOS GOARCH CGO_ENABLED GO111MODULE"
    " NEXT_TELEMETRY_DISABLED DO_NOT_TRACK GIT_TERMINAL_PROMPT RAILS_ENV RACK_ENV MIX_ENV APP_ENV"
    " DEBIAN_FRONTEND"
    " BLOCK_SIZE LS_COLORS GREP_COLORS POSIXLY_CORRECT"
)
"""An assignment to one of these before a command does not change what an allow rule allows."""

SHOWN: frozenset[str] = words(
    "HOME PWD OLDPWD USER LOGNAME SHELL LANG TERM PATH TMPDIR HOSTNAME UID EUID PPID RANDOM SECONDS LINENO"
    " BASH_VERSION OSTYPE HOSTTYPE MACHTYPE COLUMNS LINES EPOCHSECONDS"
)
"""Their values are not secret: printing one needs no approval."""

COMMANDS: frozenset[str] = words(
    "PAGER GIT_PAGER MANPAGER SYSTEMD_PAGER EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR FCEDIT"
    " GIT_SSH_COMMAND"
    " GIT_SSH GIT_EXTERNAL_DIFF GIT_ASKPASS GIT_PROXY_COMMAND SSH_ASKPASS SUDO_ASKPASS SUDO_EDITOR BROWSER"
    " LESSOPEN LESSCLOSE PROMPT_COMMAND RSYNC_RSH CVS_RSH FZF_DEFAULT_COMMAND FZF_DEFAULT_OPTS TAR_OPTIONS"
    " MAKEFLAGS GNUMAKEFLAGS GH_PAGER GH_EDITOR GH_BROWSER PERLDB_OPTS"
)
"""Hold a command that another program runs."""

PROMPTS: frozenset[str] = words("PS0 PS1 PS2 PS3 PS4")
"""Bash expands these before it prints them."""

SOURCED: frozenset[str] = words("BASH_ENV ENV")
"""Name a file whose commands a shell runs first."""

REPLACING: frozenset[str] = words(
    "PATH LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH PYTHONPATH"
    " PYTHONSTARTUP PYTHONHOME PYTHONBREAKPOINT PYTHONINSPECT NODE_OPTIONS NODE_PATH PERL5OPT PERL5LIB"
    " PERL5DB RUBYOPT RUBYLIB"
    " GCONV_PATH DOTNET_STARTUP_HOOKS LUA_INIT LUA_PATH LUA_CPATH VIMINIT EXINIT ZDOTDIR OPENSSL_CONF"
    " OPENSSL_MODULES OPENSSL_ENGINES JULIA_LOAD_PATH R_PROFILE_USER R_PROFILE R_ENVIRON_USER"
    " RIPGREP_CONFIG_PATH"
    " GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_CONFIG GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_PARAMETERS"
    " JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS MAVEN_OPTS GRADLE_OPTS JAVA_OPTS SBT_OPTS"
    " npm_config_node_options NPM_CONFIG_NODE_OPTIONS npm_config_script_shell NPM_CONFIG_SCRIPT_SHELL"
    " GTK_MODULES MAKEFILES BASHOPTS SHELLOPTS XDG_CONFIG_HOME XDG_CONFIG_DIRS GIT_CONFIG_COUNT"
    " GIT_ALLOW_PROTOCOL"
    " GIT_PROTOCOL_FROM_USER INPUTRC TMUX_TMPDIR CMAKE_PREFIX_PATH"
    " AWKPATH AWKLIBPATH M4PATH TCLLIBPATH VIMRUNTIME MYVIMRC CARGO_HOME RUSTC_WRAPPER RUSTC"
    " GOFLAGS"
)
"""With these a name starts another program, or a program loads code first."""

SEARCH_PATHS: frozenset[str] = words("PYTHONPATH NODE_PATH PERL5LIB RUBYLIB")
"""Those of them that name folders with code; a folder of the project is code of the project."""

REPLACING_PATTERN = (
    r"GIT_CONFIG_(?:KEY|VALUE)_\d+|LD_\w+|DYLD_\w+"
    r"|(?i:npm_config_(?!registry$|cache$|loglevel$|yes$|fund$|audit$|update_notifier$|color$"
    r"|progress$|offline$)\w+)"
)
"""Names of more such variables."""

HARMLESS_VALUES = (
    r"|/dev/null"
    r"|(?:-X(?:mx|ms|ss|mn)\d+[kKmMgG]?|-D[\w.]+(?:=[\w.,-]*)?|-XX:[+-]\w+|-XX:\w+=\d+\w?|-ea|-server|\s)+"
    r"|(?:--max-old-space-size=\d+|--max_old_space_size=\d+|--no-warnings|--trace-warnings"
    r"|--trace-deprecation"
    r"|--no-deprecation|--enable-source-maps|--openssl-legacy-provider|--experimental-vm-modules"
    r"|--unhandled-rejections=\w+|--stack-trace-limit=\d+|--stack-size=\d+|\s)+"
)
"""Values of the variables above that load nothing: sizes of memory, switches, no files."""

SPLITTING: frozenset[str] = words("IFS")
LOOKUP: frozenset[str] = words("CDPATH")
FUNCTION_PREFIX = "BASH_FUNC_"
TABLES: frozenset[str] = words("BASH_ALIASES BASH_CMDS")
"""Arrays through which bash finds another command under a name."""

INFLUENTIAL = (
    r"PATH|HOME|SHELL|TMPDIR|IFS|ENV|CDPATH|GLOBIGNORE|SHELLOPTS|BASHOPTS|EDITOR|VISUAL|PAGER|BROWSER"
    r"|(?:LD|DYLD|BASH|PYTHON|NODE|NPM_CONFIG|npm_config|PERL|RUBY|GEM|BUNDLE|GIT|SSH|JAVA|MAVEN"
    r"|GRADLE|CARGO|GO"
    r"|PIP|UV|DOCKER|KUBE|AWS|SSL|CURL|HTTPS?|https?|ALL|all|MAKE)\w*"
)
"""Names of variables that, once set, change which program a later command starts or what it does."""

"""What the product and the protocol say about MCP servers: limits, times, variables, words."""

from __future__ import annotations

from checkrein.facts.shell_words import words

ALLOWLIST_ENV = "CLAUDE_CODE_MCP_ALLOWLIST_ENV"
"""With "1", a stdio server gets only the variables of `INHERITED_ENV` and those of its entry."""
HELPER_NAME_ENV = "CLAUDE_CODE_MCP_SERVER_NAME"
HELPER_URL_ENV = "CLAUDE_CODE_MCP_SERVER_URL"
BATCH_ENV = "MCP_CONNECT_TIMEOUT_MS"
NONBLOCKING_ENV = "MCP_CONNECTION_NONBLOCKING"
"""With "0", the first request waits for all servers."""
IDLE_ENV = "CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT"
PLUGIN_ROOT_ENV = "CLAUDE_PLUGIN_ROOT"
PROJECT_DIR_ENV = "CLAUDE_PROJECT_DIR"
STARTUP_ENV = "MCP_TIMEOUT"
TOOL_ENV = "MCP_TOOL_TIMEOUT"

INHERITED_ENV = (
    *("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"),
    "CHECKREIN_WORKER",  # a server that a worker starts must know it
)
SECRET_PARTS = words("TOKEN SECRET PASSWORD PASSWD PASSPHRASE KEY AUTH COOKIE PAT DSN CREDENTIAL CREDENTIALS")
"""A variable with one of these between its underscores stays away from a project's headers helper."""

BATCH_MS = 5_000
"""How long the first request waits for servers that are always loaded."""
FIRST_BYTE_MS = 60_000
HELPER_SECONDS = 10.0
IDLE_NETWORK_MS = 300_000
IDLE_STDIO_MS = 1_800_000
STARTUP_MS = 30_000
TOOL_MS = 100_000_000

STDIO_AT_ONCE = 3
REMOTE_AT_ONCE = 20
"""How many servers connect at the same time."""

CONNECT_DELAYS = (0.5, 1.0)
"""Seconds before the second and the third try of a first connect."""
RECONNECT_DELAYS = (1.0, 2.0, 4.0, 8.0, 16.0)
LIST_DELAYS = (0.25, 0.5, 1.0)

LISTEN_SHORT_SECONDS = 10.0
LISTEN_SHORT_MOST = 3
LISTEN_HOURLY_MOST = 5
LISTEN_PAUSE_SECONDS = 6 * 3600.0
"""A stream of changes that ends within the short time is opened three more times; others five times an hour,
then it rests."""

PROTOCOL = "2025-11-25"
"""The version of the protocol that Checkrein proposes to servers in the caller's process."""
CALL_ID = "claudecode/toolUseId"
"""The key in `_meta` of a call that has the id of the model's call."""

MESSAGE_LIMIT = 32 << 20
"""Bytes of one message from a server."""
LIST_MOST = 2_000
"""Tools, prompts or resources of one server."""
LIST_PAGES = 100
DEFINITION_LIMIT = 1 << 20
"""Bytes of one definition."""
CATALOG_LIMIT = 16 << 20
"""Bytes of all definitions of one kind."""
INSTRUCTIONS_LIMIT = 64 << 10
LOUD_LEVELS = ("error", "critical", "alert", "emergency")
"""Log messages of these levels are shown to the user."""
NAME_LIMIT = 1_024
PARTS_MOST = 5_000
"""Parts of one result, resource or prompt."""
QUESTIONS_MOST = 100
"""Questions of a server during one request. More are refused, and keep no request alive."""
REQUESTS_MOST = 64
"""Requests of a server that wait for our answer."""

ENDED_HINT = "No session starts a program again that has ended; a new session starts it."
LOST_HINT = "A new session connects to it again."
RETRYING_HINT = "Checkrein tries to connect to it again; a later call may work."
LOGIN_HINT = "Run `checkrein mcp login {words}`."

ALWAYS_LOAD = "anthropic/alwaysLoad"
"""In a tool's `_meta`: its definition is in every request."""
IMAGE_TOKENS = 1_600
"""About what an image costs."""
MAX_OUTPUT_TOKENS = 25_000
MAX_OUTPUT_TOKENS_VARIABLE = "MAX_MCP_OUTPUT_TOKENS"
MAX_RESULT_CHARS = 500_000
"""The ceiling of `RESULT_CHARS_HINT`."""
REQUIRES_USER = "anthropic/requiresUserInteraction"
"""In a tool's `_meta`: each call needs the user."""
RESULT_CHARS_HINT = "anthropic/maxResultSizeChars"
"""In a tool's `_meta`: how long a text the model may get from it."""
SCHEMA_BYTES = 65_536
SCHEMA_DEPTH = 40
"""A schema that is larger or deeper is replaced."""
TEXT_BYTES = 2_048
"""Of a tool's description and of a server's instructions, the model gets this much."""
TOOL_NAME_CHARS = 64
"""Services refuse longer names."""
WARN_OUTPUT_TOKENS = 10_000

HINT_PREFIX = "anthropic/"
"""Keys of `_meta` that change how a client treats a tool begin with it."""
SERVER_NAME = r"[A-Za-z0-9_-]+"
"""The names that the command line accepts."""
WRITTEN_TRANSPORTS = ("stdio", "http", "sse")
"""The transports that the command line offers."""

CALLBACK_LIMIT = 300.0
"""Seconds until a sign-in in the browser must have come back."""

CALLBACK_PATH = "/callback"
"""The path of the loopback address that an authorization server sends the browser to."""

CLIENT_SECRET = "MCP_CLIENT_SECRET"  # noqa: S105  the name of a variable
"""The variable that holds the secret of a client with `oauth.clientId`."""

ID_TOKEN = "MCP_ID_TOKEN"  # noqa: S105  the name of a variable
"""The variable that holds the ID token for `oauth.grant = "token_exchange"`."""

SIGNING_ALGORITHMS = (
    *(f"{family}{size}" for family in ("RS", "ES", "PS") for size in (256, 384, 512)),
    "EdDSA",
)
"""What a client assertion may be signed with (`oauth.signingAlgorithm`), the default first."""

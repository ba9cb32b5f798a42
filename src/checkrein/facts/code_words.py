"""What code of a language may use and still count as plain: it reads, computes, prints and writes files.

Code that uses anything else may start a process, so its effect is unknown.
"""

from __future__ import annotations

from checkrein.facts.shell_words import words

PYTHON_MODULES: frozenset[str] = words(
    "abc argparse array ast base64 binascii bisect bz2 calendar cmath codecs collections configparser"
    " contextlib copy csv dataclasses datetime decimal difflib enum errno fnmatch fractions"
    " functools glob gzip"
    " hashlib heapq hmac html importlib.metadata io ipaddress itertools json keyword locale lzma math numbers"
    " pathlib platform pprint random re secrets shlex sqlite3 stat statistics string struct sysconfig"
    " textwrap time token tokenize tomllib traceback typing unicodedata urllib.parse uuid warnings"
    " xml.etree.ElementTree zlib zoneinfo __future__"
)
"""Modules of the standard library that start nothing."""

PYTHON_PARTS: dict[str, frozenset[str]] = {
    "os": words(
        "getcwd listdir walk path environ sep getenv getpid scandir stat cpu_count uname linesep name"
        " makedirs"
        " mkdir curdir pardir access R_OK W_OK X_OK F_OK get_terminal_size getuid geteuid fspath"
    ),
    "os.path": words(
        "abspath basename dirname exists expanduser getsize getmtime isabs isdir isfile islink join normpath"
        " realpath relpath split splitext commonpath commonprefix lexists samefile sep"
    ),
    "sys": words(
        "argv version version_info stdin stdout stderr path exit platform executable maxsize byteorder"
        " getsizeof"
        " getrecursionlimit implementation flags prefix base_prefix exec_prefix getdefaultencoding"
        " stdlib_module_names builtin_module_names hexversion api_version float_info"
    ),
    "shutil": words("which get_terminal_size disk_usage copy copyfile copytree"),
    "importlib": words("metadata"),
    "importlib.util": words("find_spec"),
    "urllib": words("parse"),
    "xml.etree": words("ElementTree"),
    "logging": words("getLogger basicConfig info warning error debug INFO DEBUG WARNING ERROR"),
}
"""Modules of which only these parts start nothing."""

PYTHON_RUNNERS: frozenset[str] = words(
    "sh plumbum pexpect invoke fabric IPython ipykernel pip setuptools pkg_resources distutils git dulwich"
    " pygit2 paramiko psutil ptyprocess trio anyio twisted gevent eventlet tornado cffi numpy.distutils"
    " pytest nox tox virtualenv conda ansible scapy execnet dask ray joblib cloudpickle dill yaml torch"
    " requests httpx aiohttp urllib3 pycurl pickle5 jinja2 mako"
)
"""Other modules that start processes, load code or connect."""

PYTHON_NAMES: frozenset[str] = words(
    "eval exec compile __import__ getattr setattr delattr globals locals vars breakpoint help __builtins__"
    " __loader__ __spec__ memoryview"
)
"""Builtins that run text or reach anything."""

PYTHON_ATTRIBUTES = (
    r"(?!__(?:version|file|name|doc|path|init|str|repr|len|iter|next|enter|exit|call|eq|lt|hash)__$)__\w*"
    r"|_(?!asdict|fields|replace)\w+|system|popen\w*|spawn\w*|posix_spawn\w*|exec[lv]\w*|exec|eval|fork\w*"
    r"|startfile|modules|meta_path|path_hooks|gi_\w+|cr_\w+|ag_\w+|f_globals|f_builtins|f_locals"
    r"|f_back|tb_frame"
    r"|func_globals|get_type_hints|ForwardRef|load_extension|enable_load_extension|unlink|rmdir"
    r"|rmtree|remove_file"
    r"|symlink_to|hardlink_to|chmod|run|Popen|call|check_call|check_output|runpy|import_module|entry_points"
    r"|create_function|set_trace_callback|attrgetter|methodcaller|loads_pickle"
)
"""Attributes that no plain code uses."""

JAVASCRIPT_ROOTS: frozenset[str] = words(
    "console JSON Math Object Array String Number Boolean Date RegExp Map Set Promise BigInt Intl parseInt"
    " parseFloat isNaN isFinite encodeURIComponent decodeURIComponent URL Buffer Symbol Error undefined NaN"
    " Infinity null true false this"
    " const let var function return if else for of in while do break continue switch case default new typeof"
    " instanceof void delete throw try catch finally async await class extends super yield static get set"
    " require process"
)
"""Words that code may use without declaring them."""

JAVASCRIPT_MODULES = (
    r"\.{1,2}/[\w./-]+\.json|(?:node:)?(?:path|url|util|os|assert|crypto|querystring|string_decoder"
    r"|zlib|events"
    r"|buffer|fs|fs/promises)"
)
"""What `require` may name."""

JAVASCRIPT_PROPERTIES = (
    r"constructor|prototype|__\w+|exec\w*|spawn\w*|fork\w*|binding|_\w+|dlopen|mainModule|kill|call"
    r"|apply|bind|eval"
    r"|Function|require|getBuiltinModule|loadEnvFile|child_process|callee|caller|unlink\w*|rm|rmSync|rmdir\w*"
    r"|symlink\w*|chmod\w*|reallyExit|execPath|abort|setPrototypeOf|defineProperty|defineProperties|assign"
    r"|createRequire|report|emit|on|permission|getOwnPropertyDescriptors?|fromEntries|promises|module|exports"
)
"""Properties that no plain code uses."""

JAVASCRIPT_PROCESS: frozenset[str] = words(
    "version versions platform arch cwd argv env exit stdout write memoryUsage uptime pid"
)
"""What plain code uses of `process`."""

AWK_WORDS: frozenset[str] = words(
    "BEGIN END BEGINFILE ENDFILE print printf if else while for do break continue next nextfile exit return"
    " delete in function func length substr index split sub gsub gensub match sprintf tolower toupper int"
    " sqrt exp log sin cos atan2 rand srand strftime systime mktime asort asorti and or xor lshift rshift"
    " compl strtonum fflush close getline system patsplit typeof isarray switch case default"
)
"""Words of awk that a bracket may follow."""

AWK_SELECTS: frozenset[str] = words("BEGIN END NR FNR NF FS OFS print printf if else next exit length")
"""Words of awk with which a program selects, counts and prints."""

PERL_WORDS: frozenset[str] = words(
    "print printf if unless and or not my our local split join length substr uc lc ucfirst lcfirst"
    " sprintf push"
    " pop shift unshift keys values sort reverse chomp chop next last foreach for while until else"
    " elsif BEGIN"
    " END eof defined scalar abs int sqrt say index rindex exists delete ne eq lt gt le ge cmp x n t r"
    " ENV ARGV STDIN STDOUT STDERR time localtime"
)
RUBY_WORDS: frozenset[str] = words(
    "puts print p pp if unless else elsif end do while until for in and or not nil true false each each_line"
    " each_with_index map select reject sum size length count first last sort sort_by uniq reverse join split"
    " strip chomp gsub sub upcase downcase capitalize to_s to_i to_f to_sym ARGF ARGV STDIN gets times upto"
    " downto step min max sqrt Math RUBY_VERSION RUBY_PLATFORM format printf zip flatten compact include"
    " start_with end_with nil? empty even odd tr squeeze chars lines bytes hex ord chr x i n a b c"
)
PHP_WORDS: frozenset[str] = words(
    "echo print var_dump print_r phpversion PHP_VERSION PHP_EOL PHP_OS json_encode json_decode strlen count"
    " implode explode str_replace strtoupper strtolower substr trim date time if else foreach for while as"
    " true false null array range sprintf printf number_format round floor ceil n t"
)
LUA_WORDS: frozenset[str] = words(
    "print local function end if then else elseif for in do while return and or not nil true false"
    " pairs ipairs"
    " tostring tonumber string format rep sub len upper lower math floor ceil sqrt max min huge pi"
    " table concat"
    " insert sort type n"
)
VIM_COMMANDS = (
    r":*\s*(?:q(?:a|uit|all)?!?|wqa?!?|wq(?:all)?!?|x(?:it)?!?|w(?:rite)?!?|wa(?:ll)?!?|\d+|\$|[ggG]+"
    r"|set? [\w=,]+|syntax (?:on|off)|noh\w*|/[\w .*-]*|%?s/[^/|!\\`=]*/[^/|!\\`=]*/[gciI]*"
    r"|normal [ggGdx]+)\s*"
)
"""Commands of vim that start nothing."""

SQLITE_COMMANDS = (
    r"\.(?:tables|schema|mode|headers?|indexes|databases|stats|width|separator|nullvalue|timer"
    r"|changes|fullschema"
    r"|quit|exit)\b[^|]*"
)
"""Commands of sqlite3 that start nothing."""

GDB_COMMANDS = (
    r"\s*(?:run|r|bt(?: full)?|backtrace|where|quit|q|info [\w ]+|p(?:rint)? [\w.>\-\[\]* ]+"
    r"|b(?:reak)? [\w.:]+|c(?:ontinue)?"
    r"|n(?:ext)?|s(?:tep)?|finish|list|l|thread apply all bt(?: full)?|set (?:pagination|confirm"
    r"|width|height)[ \w]*"
    r"|x/\w+ [$\w]+|disassemble[ \w]*)\s*"
)
"""Commands of gdb that start nothing but the program itself."""

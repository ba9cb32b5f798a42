// A program on the TypeScript SDK. Its arguments: the SDK, the command, the project. It prints what it saw.
const [library, command, project] = process.argv.slice(2);
const { query, tool, createSdkMcpServer } = await import(library);
const saw = {};
const options = (more) => ({ pathToClaudeCodeExecutable: command, cwd: project, model: "claude-mock-1", ...more });

class Prompts {
  #waiting = [];
  #wake = () => {};
  #over = false;
  say(text) {
    this.#waiting.push({ type: "user", message: { role: "user", content: text }, parent_tool_use_id: null });
    this.#wake();
  }
  end() {
    this.#over = true;
    this.#wake();
  }
  async *[Symbol.asyncIterator]() {
    while (this.#waiting.length > 0 || !this.#over) {
      if (this.#waiting.length > 0) yield this.#waiting.shift();
      else await new Promise((done) => (this.#wake = done));
    }
  }
}

async function result(messages, each = () => {}) {
  for (;;) {
    const { value, done } = await messages.next();
    if (done) return undefined;
    await each(value);
    if (value.type === "result") return value;
  }
}

// One prompt with a function of each kind.
const called = (saw.called = []);
const ping = tool("ping", "Answers", {}, async () => {
  called.push("tool");
  return { content: [{ type: "text", text: "pong" }] };
});
const first = await result(
  query({
    prompt: "go",
    options: options({
      mcpServers: { own: createSdkMcpServer({ name: "own", version: "1.0.0", tools: [ping] }) },
      allowedTools: ["mcp__own__ping"],
      canUseTool: async (name, input, context) => {
        called.push(`permission ${name} ${context.suggestions.length > 0}`);
        return { behavior: "allow", updatedInput: { ...input, command: "touch changed" } };
      },
      hooks: {
        PreToolUse: [{ matcher: "Bash", hooks: [async (input) => (called.push(`hook ${input.tool_name}`), {})] }],
      },
    }),
  }),
);
saw.first = first.result;

// A session that goes on and takes requests; an interrupt in the middle of a call.
const prompts = new Prompts();
const session = query({ prompt: prompts, options: options({ resume: first.session_id, allowedTools: ["Bash(sleep *)"] }) });
prompts.say("wait");
const cut = await result(session, async (message) => {
  if (message.type === "assistant") saw.receipt = await session.interrupt();
});
saw.cut = [cut.subtype, cut.session_id === first.session_id];
await session.setModel("claude-mock-2");
await session.setPermissionMode("acceptEdits");
saw.requests = {
  commands: (await session.supportedCommands()).length > 0,
  models: (await session.supportedModels()).length > 0,
  agents: (await session.supportedAgents()).map((one) => one.name),
  servers: await session.mcpServerStatus(),
  context: (await session.getContextUsage()).totalTokens > 0,
  usage: (await session.usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET()).session.total_cost_usd,
  skills: (await session.reloadSkills()).skills,
  plugins: (await session.reloadPlugins()).plugins,
  styles: (await session.reloadOutputStyles()).available_output_styles,
  again: (await session.reinitialize()).commands.length > 0,
  missing: await session.stopTask("none").catch((error) => error.message),
};
prompts.say("again");
const last = await result(session, (message) => {
  if (message.subtype === "init") saw.init = [message.model, message.permissionMode];
});
prompts.end();
await result(session);
saw.last = last.result;

// A fork, and one that is aborted.
const fork = await result(query({ prompt: "fork", options: options({ resume: first.session_id, forkSession: true }) }));
saw.fork = [fork.result, fork.session_id !== first.session_id];
const abortController = new AbortController();
const aborted = query({ prompt: "wait", options: options({ abortController }) });
saw.aborted = await result(aborted, () => abortController.abort()).catch((error) => error.message);
console.log(JSON.stringify(saw));

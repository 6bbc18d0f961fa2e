import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parse } from "yaml";
import { CommandWorld } from "../support/command.js";
import { startScript } from "../support/publishing.js";

const world = new CommandWorld();

const start = (t: TestContext) => startScript(t, world);

test("the action's steps publish on a branch of its own, commit only changes, and keep pictures while a forge is down", async (t) => {
  const { forge, folder, run, commits, show, names, set, git, bare } = await start(t);
  const [a = ""] = names;
  set(1_000);
  const first = await run();
  assert.equal(first.code, 0, first.stdout);
  assert.equal(commits(), 1);
  assert.match(show(`${a}.svg`), /^<svg /);
  assert.match(show("README.md"), new RegExp(`${a}\\.svg`));
  assert.deepEqual(git(bare, "ls-tree", "--name-only", "sidereal").trim().split("\n"), [
    "README.md",
    "badges",
    ...names.map((name) => name.split("/")[0]),
    "report.md",
    "repositories.json",
    "state",
  ]);
  assert.match(show("report.md"), /^## Stars on .*\n\n\*\*2,000 stars\*\* in 2 repositories/);
  assert.equal((await run()).code, 0);
  assert.equal(commits(), 1, "a run that finds nothing new within half an hour has no commit");
  set(1_010);
  assert.equal((await run()).code, 0);
  assert.equal(commits(), 2);
  forge.switches.fault = () => "status-502";
  const summary = join(folder, "summary.md");
  const down = await run({ SUMMARY: summary });
  assert.equal(down.code, 1, "nothing could be read");
  assert.equal(commits(), 2);
  assert.doesNotMatch(down.stdout, /^::/m);
  const job = await run({ GITHUB_ACTIONS: "true" });
  assert.match(job.stdout, /^::error title=Charts::github:.*: The forge did not respond/m);
  assert.match(readFileSync(summary, "utf8"), /^ {4}.*The forge did not respond/m);
  forge.switches.fault = null;
  set(1_020);
  for (const event of [
    { GITHUB_EVENT_NAME: "pull_request_target" },
    { GITHUB_EVENT_NAME: "workflow_run" },
    { CI_PIPELINE_SOURCE: "merge_request_event" },
  ]) {
    const pull = await run(event);
    assert.deepEqual([pull.code, commits()], [0, 2]);
    assert.match(pull.stdout, /Nothing is published for this event/);
  }
  assert.equal(git(bare, "log", "--format=%s", "sidereal").trim(), "Update charts\nUpdate charts");
  const branch = join(folder, "branch");
  git(folder, "clone", "--quiet", "--branch", "sidereal", bare, branch);
  writeFileSync(join(branch, "report.md"), "# Mine\n");
  git(branch, "commit", "--quiet", "--all", "--message", "Mine");
  git(branch, "push", "--quiet");
  const foreign = await run();
  assert.deepEqual([foreign.code, commits(), show("report.md")], [0, 4, "# Mine\n"], foreign.stdout);
  assert.match(foreign.stdout, /\| report\.md: not written: it exists, and was not written by this command/);
});

test("nothing in a list or a state becomes a command of a shell or of a CI", async (t) => {
  const { folder, run, commits, show, main, git, bare } = await start(t);
  const stolen = join(folder, "stolen");
  const lines = [
    `$(touch ${stolen})`,
    `\`touch ${stolen}\``,
    "; touch x",
    "::set-env name=A::b",
    "##[add-path]/tmp",
    "-x",
  ];
  writeFileSync(join(main, "repos.txt"), `${lines.join("\n")}\n`);
  git(main, "commit", "--quiet", "--all", "--message", "Mistakes");
  git(main, "push", "--quiet", "origin", "main");
  const summary = join(folder, "summary.md");
  const first = await run({
    SUMMARY: summary,
    SITE: join(folder, "the site"),
    URL: "https://acme.example/$(x)",
  });
  assert.equal(first.code, 1, "the list names no repository");
  assert.ok(existsSync(join(folder, "the site", "index.html")));
  const branch = join(folder, "branch");
  git(folder, "clone", "--quiet", "--branch", "sidereal", bare, branch);
  writeFileSync(
    join(branch, "state/repositories.ndjson"),
    `${show("state/repositories.ndjson")}${JSON.stringify({ type: "repository", provider: "GITHUB", fullName: "::stop-commands::x ##[error]y" })}\n`,
  );
  git(branch, "commit", "--quiet", "--all", "--message", "Damage");
  git(branch, "push", "--quiet", "origin", "sidereal");
  const damaged = await run({ SUMMARY: summary });
  assert.equal(damaged.code, 1);
  assert.match(damaged.stdout, /The state cannot be read/);
  for (const text of [first.stdout, damaged.stdout]) assert.doesNotMatch(text, /^\s*::|##\[/m);
  for (const line of readFileSync(summary, "utf8").split("\n"))
    assert.match(line, /^(?:$|## Stars on [\w ]+$|\*\*0 stars\*\* in|0 of 1 read| {4}\| )/);
  assert.ok(!existsSync(stolen));
  assert.equal(commits(), 2);
});

test("of two runs of the action at the same time none fails, and the readings of both days stay", async (t) => {
  const { run, commits, show, set } = await start(t);
  set(500);
  const both = await Promise.all([run(), run()]);
  assert.deepEqual(
    both.map(({ code }) => code),
    [0, 0],
    both.map(({ stdout }) => stdout).join(),
  );
  assert.equal(commits(), 1, "the later run finds nothing new");
  set(600);
  assert.equal((await run()).code, 0);
  const month = new Date().toISOString().slice(0, 7);
  const lines = show(`state/snapshots/observed-${month}.ndjson`);
  for (const stars of [500, 600]) assert.equal(lines.split(`",${stars},`).length, 3, lines);
});

test("a push that is refused ends the run immediately, with git's words in the summary", async (t) => {
  const { forge, folder, bare, run } = await start(t);
  const hook = join(bare, "hooks", "pre-receive");
  const refuse = (words: string) =>
    writeFileSync(hook, `#!/bin/sh\necho "${words}" >&2\nexit 1\n`, { mode: 0o755 });
  const summary = join(folder, "summary.md");
  refuse("GH006: Protected branch update failed");
  const refused = await run({ SUMMARY: summary });
  assert.equal(refused.code, 1, refused.stdout);
  const shown = readFileSync(summary, "utf8");
  for (const text of [refused.stdout, shown]) {
    assert.match(
      text,
      /\| The branch could not be pushed:\n *\| remote: GH006: Protected branch update failed/,
    );
    assert.doesNotMatch(text, /contents: write/);
  }
  forge.counters.reset();
  refuse("Permission to acme/kite.git denied to github-actions[bot].");
  const forbidden = await run({ SUMMARY: summary });
  assert.equal(forbidden.code, 1);
  assert.match(
    readFileSync(summary, "utf8").slice(shown.length),
    /denied to github-actions\[bot\]\.[\s\S]*the job needs permissions: contents: write\./,
  );
  const { history } = forge.counters.byKind;
  forge.counters.reset();
  rmSync(hook);
  assert.equal((await run()).code, 0);
  assert.ok(history);
  assert.equal(forge.counters.byKind.history, history, "the forge was read once");
});

test("the action has no permission to ask for, and no input that reaches a command line", () => {
  const read = (file: string) => parse(readFileSync(file, "utf8"));
  const action = read("action.yml");
  const folder = "examples/action/.github/workflows";
  const [charts, site] = [read(`${folder}/charts.yml`), read(`${folder}/site.yml`)];
  const steps = [action.runs, ...Object.values({ ...charts.jobs, ...site.jobs })].flatMap((job) => job.steps);
  for (const { run, uses = "" } of steps) {
    assert.doesNotMatch(run ?? "", /\$\{\{/);
    if (run === undefined) assert.match(uses, /@(?:[0-9a-f]{40}|COMMIT)$/);
  }
  assert.deepEqual(charts.permissions, { contents: "write" });
  assert.deepEqual(
    Object.values<{ permissions: object }>(site.jobs).map(({ permissions }) => permissions),
    [{ contents: "write" }, { pages: "write", "id-token": "write" }],
  );
  for (const { on } of [charts, site]) assert.deepEqual(Object.keys(on), ["schedule", "workflow_dispatch"]);
  assert.ok(readFileSync(`${folder}/charts.yml`, "utf8").trim().split("\n").length <= 9);
});

test("a job without a list draws its own repository, shows it in a README, and has addresses that work everywhere", async (t) => {
  const { forge, folder, run, commits, show, names, git, bare, main, set } = await start(t);
  const [a = "", b = ""] = names;
  const block = (text: string) => `# Mine\n\n<!-- sidereal -->\n${text}<!-- /sidereal -->\n`;
  git(main, "rm", "--quiet", "repos.txt");
  writeFileSync(join(main, "README.md"), block(""));
  git(main, "add", ".");
  git(main, "commit", "--quiet", "--message", "README");
  git(main, "push", "--quiet", "origin", "main");
  const output = join(folder, "output");
  const outputs = () => readFileSync(output, "utf8").trim().split("\n");
  const job = {
    GITHUB_SERVER_URL: forge.url,
    GITHUB_REPOSITORY: a,
    GITHUB_REPOSITORY_OWNER: a.split("/")[0] ?? "",
    OUTPUT: output,
    README: "README.md",
  };
  set(1_000);
  const first = await run(job);
  assert.equal(first.code, 0, first.stdout);
  const markdown = `[![Stars of ${a} over time](${forge.url}/${a}/raw/sidereal/${a}.svg)](${forge.url}/${a})\n`;
  assert.ok(first.stdout.includes(`| ${markdown}`), first.stdout);
  assert.ok(show("README.md").includes(markdown), show("README.md"));
  assert.match(show(`${a}.svg`), /^<svg /);
  const home = () => git(bare, "show", "main:README.md");
  assert.equal(home(), block(markdown));
  assert.equal(git(bare, "log", "--format=%s", "-1", "main").trim(), "Show charts [skip ci]");
  const sha = git(bare, "rev-parse", "sidereal").trim();
  assert.deepEqual(outputs(), ["total-stars=1000", "new-stars=0", "changed=true", `commit=${sha}`]);
  rmSync(output);
  set(1_010);
  const second = await run({ ...job, REPOSITORIES: `${a}\n$(touch ${join(folder, "stolen")})\n${b}` });
  assert.equal(second.code, 0, second.stdout);
  assert.match(second.stdout, /^\| line 2: /m);
  assert.match(show(`${b}.svg`), /^<svg /);
  assert.deepEqual(outputs().slice(0, 2), ["total-stars=2020", "new-stars=10"]);
  assert.equal(home().split("](").length, 5);
  // Somebody else pushes to the default branch while a run works.
  const hook = join(bare, "hooks", "pre-receive");
  git(main, "pull", "--quiet");
  writeFileSync(join(main, "other"), "mine");
  git(main, "add", ".");
  git(main, "commit", "--quiet", "--message", "Other");
  git(main, "push", "--quiet", "origin", "HEAD:refs/heads/other");
  writeFileSync(
    hook,
    `#!/bin/sh\nread old new ref\nunset GIT_QUARANTINE_PATH\n[ $ref = refs/heads/main ] && git update-ref refs/heads/main other 2>/dev/null\nexit 0\n`,
    { mode: 0o755 },
  );
  const third = await run(job);
  assert.equal(third.code, 0, third.stdout);
  assert.deepEqual([home(), git(bare, "show", "main:other")], [block(markdown), "mine"]);
  writeFileSync(
    hook,
    `#!/bin/sh\nread old new ref\n[ $ref != refs/heads/main ] || { echo "GH006: Protected branch"; exit 1; }\n`,
  );
  const before = commits();
  const refused = await run({ ...job, REPOSITORIES: b });
  assert.equal(refused.code, 1, refused.stdout);
  assert.match(refused.stdout, /\| README\.md could not be pushed:\n\| remote: GH006: Protected branch/);
  assert.equal(commits(), before + 1, "the charts are published");
  assert.ok(!existsSync(join(folder, "stolen")));
  rmSync(hook);
  // As earlier versions have left it.
  const branch = join(folder, "branch");
  git(folder, "clone", "--quiet", "--branch", "sidereal", bare, branch);
  mkdirSync(join(branch, "charts"));
  for (const name of ["badges", "repositories.json", b.split("/")[0] ?? ""])
    git(branch, "mv", name, `charts/${name}`);
  git(branch, "commit", "--quiet", "--message", "Earlier");
  git(branch, "push", "--quiet");
  set(1_020);
  assert.equal((await run({ ...job, REPOSITORIES: b })).code, 0);
  assert.ok(home().includes(`/raw/sidereal/charts/${b}.svg)`), home());
  assert.match(show(`charts/${b}.svg`), /^<svg /);
  for (const [wrong, said] of [
    [{ README: "../README.md" }, /README must be a file of the repository/],
    [{ README: "none.md" }, /--readme: there is no file/],
    [{ LIST: "none.txt" }, /--list: there is no file/],
    [{ LIST: "README.md", REPOSITORIES: a }, /LIST and REPOSITORIES cannot be used together/],
  ] as const) {
    const { code, stdout } = await run({ ...job, ...wrong });
    assert.equal(code, 2, stdout);
    assert.match(stdout, said);
  }
});

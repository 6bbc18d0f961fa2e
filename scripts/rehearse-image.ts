/**
 * Rehearses the Dockerfile without a container engine: runs its steps in folders laid over the root of this machine, which
 * must be the Debian that the image names, then its command as its user, without privileges, with a root that cannot be written to.
 * It shows that the steps work and which files the service needs; it does not show how an engine reads the file.
 *
 * As root on Linux: npm run -s build && unshare --mount node dist/scripts/rehearse-image.js
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
} from "node:fs";
import { createServer } from "node:net";
import { dirname, join, resolve } from "node:path";
import {
  type Instruction,
  isIgnored,
  readCommand,
  readStages,
  readVariables,
  type Stage,
} from "./image-file.js";

const work = mkdtempSync("/tmp/sidereal-image-");
const report = (text: string) => process.stdout.write(`${text}\n`);
const run = (...[program, ...args]: [string, ...string[]]) =>
  execFileSync(program, args, { stdio: ["ignore", "inherit", "inherit"] });

/** The environment of a process in the image: how to reach the network. */
const NETWORK = Object.entries(process.env).filter(([name]) =>
  /^(?:https?_proxy|no_proxy|node_extra_ca_certs|npm_config_registry)$/i.test(name),
);
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** A folder with the files that a stage has written, and its mount point. */
interface Built {
  written: string;
  root: string;
  variables: Record<string, string>;
}

/** Puts the base image's version of Node.js into a folder, as this machine may have another. */
function prepareBase(image: string, base: string): void {
  const version = /^node:(\d+\.\d+\.\d+)-bookworm-slim$/.exec(image)?.[1];
  if (process.version !== `v${version}`)
    throw new Error(`${image} cannot be rehearsed with Node.js ${process.version}`);
  if (!readFileSync("/etc/os-release", "utf8").includes("bookworm"))
    throw new Error("this machine is no Debian bookworm");
  for (const folder of ["usr/local/bin", "data", "opt"])
    mkdirSync(join(base, folder), { recursive: true, mode: 0o755 });
  cpSync(process.execPath, join(base, "usr/local/bin/node"), { dereference: true });
}

/** Mounts a stage: its writes lie over this machine, whose own data is hidden. */
function mountRoot(name: string, image: string): { written: string; root: string } {
  const [written, scratch, root] = ["written", "scratch", "root"].map((part) => join(work, name, part)) as [
    string,
    string,
    string,
  ];
  for (const folder of [written, scratch, root]) mkdirSync(folder, { recursive: true });
  prepareBase(image, written);
  run("mount", "-t", "overlay", "overlay", "-o", `lowerdir=/,upperdir=${written},workdir=${scratch}`, root);
  for (const hidden of ["root", "home", "tmp", "work", "srv", "mnt"])
    if (existsSync(join(root, hidden)))
      run("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", join(root, hidden));
  run("mount", "--rbind", "/dev", join(root, "dev"));
  run("mount", "-t", "proc", "proc", join(root, "proc"));
  return { written, root };
}

function build(stage: Stage, index: number, earlier: Map<string, Built>): Built {
  const built = { ...mountRoot(`stage-${index}`, stage.base), variables: {} as Record<string, string> };
  let folder = "/";
  for (const step of stage.steps) {
    const began = performance.now();
    if (step.name === "WORKDIR") {
      folder = step.text;
      mkdirSync(join(built.root, folder), { recursive: true });
    } else if (step.name === "ENV") Object.assign(built.variables, readVariables(step.text));
    else if (step.name === "COPY") copy(step, { root: built.root, folder, earlier });
    else if (step.name === "RUN") {
      const env = { PATH, HOME: "/root", ...Object.fromEntries(NETWORK), ...built.variables };
      execFileSync("chroot", [built.root, "/bin/sh", "-c", `cd ${folder} && ${step.text}`], {
        env,
        stdio: "inherit",
      });
    } else continue;
    report(
      `${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${step.name} ${step.text.slice(0, 90)}`,
    );
  }
  return built;
}

function copy(
  step: Instruction,
  { root, folder, earlier }: { root: string; folder: string; earlier: Map<string, Built> },
): void {
  const paths = step.text.split(/\s+/);
  const to = join(root, resolve(folder, paths.pop() ?? ""));
  const from = step.flags.from;
  if (from !== undefined) {
    const source = join(earlier.get(from)?.root ?? "", paths[0] ?? "");
    cpSync(source, to, { recursive: true, verbatimSymlinks: true });
    return;
  }
  const ignoreFile = readFileSync(".dockerignore", "utf8");
  const known = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    encoding: "utf8",
  });
  const context = known
    .split("\0")
    .filter((path) => path !== "" && existsSync(path) && !isIgnored(path, ignoreFile));
  for (const path of context.filter((one) => paths.includes(".") || paths.includes(one))) {
    mkdirSync(dirname(join(to, path)), { recursive: true });
    cpSync(path, join(to, path));
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  if (address === null || typeof address === "string") throw new Error("no port is free");
  return address.port;
}

const folderSize = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);

/** Runs a command of the image as its user, with nothing to write to but its volume and /tmp. */
function inImage(
  { root, variables }: Built,
  user: string,
  { command, port }: { command: readonly string[]; port: number },
) {
  const [uid = "", gid = ""] = user.split(":");
  const bare = ["--clear-groups", "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"];
  const env = { PATH, HOME: "/home/node", ...variables, SIDEREAL_PORT: String(port) };
  const args = [
    root,
    "setpriv",
    `--reuid=${uid}`,
    `--regid=${gid}`,
    ...bare,
    "/bin/sh",
    "-c",
    'cd /data && exec "$@"',
    "sh",
    ...command,
  ];
  return { program: "chroot", args, options: { env } };
}

async function serveOnce(built: Built, steps: readonly Instruction[]): Promise<void> {
  const user = steps.findLast(({ name }) => name === "USER")?.text ?? "0:0";
  const port = await freePort();
  const call = (command: readonly string[]) => {
    const { program, args, options } = inImage(built, user, { command, port });
    return spawnSync(program, args, { ...options, encoding: "utf8" });
  };
  const began = performance.now();
  const main = inImage(built, user, {
    command: [...readCommand(steps, "ENTRYPOINT"), ...readCommand(steps, "CMD")],
    port,
  });
  const service = spawn(main.program, main.args, { ...main.options, stdio: "inherit" });
  const ended = once(service, "exit");
  const check = readCommand(steps, "HEALTHCHECK");
  for (let i = 0; call(check).status !== 0; i++)
    if (i === 60) throw new Error("the service does not become healthy");
  report(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  healthy`);
  const { status } = await fetch(`http://127.0.0.1:${port}/`);
  const id = call(["id"]).stdout.trim();
  const denied = ["/opt/sidereal/x", "/x", "/etc/x"].filter((path) => call(["touch", path]).status !== 0);
  report(`        GET /: ${status}; ${id}; cannot write ${denied.join(", ")}`);
  const stopping = performance.now();
  service.kill("SIGTERM");
  const [code] = await ended;
  report(`        exit code ${code} ${((performance.now() - stopping) / 1000).toFixed(1)} s after SIGTERM`);
  if (status !== 200 || code !== 0 || denied.length !== 3)
    throw new Error("the image does not behave as it should");
}

if (readlinkSync("/proc/self/ns/mnt") === readlinkSync(`/proc/${process.ppid}/ns/mnt`))
  report("run it with unshare --mount: it must not mount anything in the name space of the machine");
else await rehearse();

async function rehearse(): Promise<void> {
  try {
    const stages = readStages(readFileSync("Dockerfile", "utf8"));
    const last = stages.at(-1);
    if (last === undefined) throw new Error("the Dockerfile has no stage");
    const earlier = new Map<string, Built>();
    for (const [i, stage] of stages.entries()) earlier.set(stage.name ?? "final", build(stage, i, earlier));
    const final = earlier.get("final");
    if (final === undefined) throw new Error("the last stage has a name");
    report(`        ${(folderSize(join(final.root, "opt/sidereal")) / 1e6).toFixed(1)} MB in /opt/sidereal`);
    const volume = join(work, "volume");
    mkdirSync(volume, { mode: 0o700 });
    run("chown", "1000:1000", volume);
    run("mount", "--bind", volume, join(final.root, "data"));
    run("mount", "-o", "remount,ro", final.root);
    await serveOnce(final, last.steps);
    await serveOnce(final, last.steps);
  } finally {
    for (const name of readdirSync(work))
      spawnSync("umount", ["--recursive", "--lazy", join(work, name, "root")], { stdio: "ignore" });
    // Through a mount that is still there, the files of this machine would be removed.
    if (!readFileSync("/proc/self/mounts", "utf8").includes(work))
      rmSync(work, { recursive: true, force: true });
  }
}

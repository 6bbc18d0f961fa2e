/** nginx in front of a service, as OPERATIONS.md recommends it, in a folder of its own. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { freePort } from "../../support/ports.js";
import { HarnessFailure } from "../support/harness.js";

/** Why nothing can be tried behind nginx, for `skip`; false where it is installed. */
export const withoutNginx: string | false =
  spawnSync("nginx", ["-v"]).status === 0 ? false : "nginx is not installed: apt-get install nginx-light";

export interface Nginx {
  port: number;
  stop(): Promise<void>;
}

/** All requests share one connection to the service: a response that belongs to another would be noticed immediately. */
function configOf(folder: string, port: number, servicePort: number): string {
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${join(folder, name)};`)
    .join(" ");
  return `daemon off; master_process off; worker_processes 1; pid ${join(folder, "pid")};
events { worker_connections 256; }
http {
  access_log off; ${paths}
  upstream service { server 127.0.0.1:${servicePort}; keepalive 1; keepalive_timeout 4s; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://service;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    }
  }
}
`;
}

/** Starts nginx in front of the service at a port. */
export async function startNginx(servicePort: number): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), "sidereal-nginx-"));
  const port = await freePort();
  const config = join(folder, "nginx.conf");
  writeFileSync(config, configOf(folder, port, servicePort));
  const child = spawn("nginx", ["-p", folder, "-c", config, "-e", join(folder, "error.log")], {
    stdio: "ignore",
  });
  const ended = once(child, "exit");
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  for (let tries = 0; tries < 100; tries++) {
    if (child.exitCode !== null) break;
    if (await accepts(port)) return { port, stop };
    await wait(50);
  }
  await stop();
  throw new HarnessFailure("nginx did not start");
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

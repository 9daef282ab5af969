/** A php-fpm for tests, with a folder of scripts. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { findProgram } from "../../../tools/programs.ts";
import { exists } from "../../folders.ts";

export interface TestFpm extends AsyncDisposable {
  readonly socket: string;
  readonly master: ChildProcess;
  /** Writes a script. Returns its absolute path. */
  script(name: string, code: string): Promise<string>;
}

function fpmCommand(): string {
  const command = findProgram("php-fpm", process.env);
  if (command === null) throw new Error("There is no php-fpm on this machine.");
  return command;
}

/** Starts php-fpm with this number of children. */
export async function startFpm(children = 2): Promise<TestFpm> {
  const folder = await mkdtemp(path.join(tmpdir(), "fpm-"));
  const socket = path.join(folder, "fpm.sock");
  const scripts = path.join(folder, "scripts");
  await mkdir(scripts);
  const configuration = path.join(folder, "fpm.conf");
  await writeFile(
    configuration,
    `[global]
daemonize = no
[test]
${process.getuid?.() === 0 ? "user = root\ngroup = root\n" : ""}listen = ${socket}
pm = static
pm.max_children = ${children}
catch_workers_output = yes
php_admin_flag[display_errors] = off
php_admin_flag[log_errors] = on
`,
  );
  const asRoot = process.getuid?.() === 0 ? ["--allow-to-run-as-root"] : [];
  const master = spawn(
    fpmCommand(),
    ["--nodaemonize", "--force-stderr", ...asRoot, "--fpm-config", configuration, "-n"],
    {
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  let log = "";
  const ready = Promise.withResolvers<void>();
  master.stderr.on("data", (chunk) => {
    log += chunk;
    if (log.includes("ready to handle connections")) ready.resolve();
  });
  const ended = once(master, "exit").then(() => {
    throw new Error(`php-fpm ended: ${log}`);
  });
  ended.catch(() => undefined);
  await Promise.race([ready.promise, ended]);
  if (!(await exists(socket))) throw new Error(`php-fpm has no socket: ${log}`);
  return {
    socket,
    master,
    script: async (name, code) => {
      const file = path.join(scripts, name);
      await writeFile(file, code);
      return file;
    },
    [Symbol.asyncDispose]: async () => {
      // Killed, it would leave its children.
      master.kill("SIGTERM");
      await ended.catch(() => undefined);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

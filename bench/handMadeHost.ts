/**
 * What an administrator would set up for one WordPress site: nginx, and php-fpm with a fixed number of children. It serves a copy of
 * an environment at the same paths and with the same settings of PHP, without the platform's own PHP, limits and filters.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdir, realpath, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import type { EdgeEnvironment } from "@sitewright/edge/tables/table.ts";
import type { PhpProgram } from "@sitewright/runtimes/native/environmentSandbox.ts";
import {
  databaseFolder,
  internalFolder,
  memoryFolder,
  sessionFolder,
  siteFolder,
} from "@sitewright/runtimes/phpFolders.ts";
import { phpSettings } from "@sitewright/runtimes/phpSettings.ts";
import { driverFolder, driverPlace } from "@sitewright/runtimes/sqlite/driver.ts";
import { type ServerProcess, startNginx } from "./serverProcess.ts";

export const nginxInstallHint = "nginx is not installed: apt-get install nginx-light";

const children = 4;
const run = promisify(execFile);

interface Places {
  /** Folder of the asset store. */
  readonly assets: string;
  readonly php: PhpProgram;
  /** New folder, whose path is short. */
  readonly folder: string;
}

/** Returns null if nginx is not installed. */
export async function startHandMadeHost(environment: EdgeEnvironment, places: Places): Promise<ServerProcess | null> {
  const { folder } = places;
  const copy = join(folder, "site");
  const sockets = join(folder, "run");
  await mkdir(sockets, { recursive: true });
  const { uid } = await stat(environment.documentRoot);
  await chown(sockets, uid, uid);
  const release = join(environment.documentRoot, "..");
  // Parts of a release may be links.
  await mkdir(copy);
  for (const part of ["public", "database"])
    await run("cp", ["--archive", await realpath(join(release, part)), join(copy, part)]);
  await writeFile(join(sockets, "fpm.conf"), fpmConfiguration);
  await writeFile(join(sockets, "prepend.php"), prepended);
  const stopFpm = await startFpm(await namespaceOf(environment, places, { copy, sockets }), uid, places.php);
  const nginx = await startNginx({ listen: "", server: serverBlock(copy, sockets) }, {});
  if (nginx === null) await stopFpm();
  return (
    nginx && {
      ...nginx,
      stop: async () => {
        await nginx.stop();
        await stopFpm();
      },
    }
  );
}

const fpmConfiguration = `[global]
daemonize = no
error_log = /dev/null
[www]
listen = /run/fpm.sock
pm = static
pm.max_children = ${children}
`;

/** What the SQL layer needs to translate each statement once, as it does in the product. */
const prepended = `<?php define( 'MYSQL_LAYER_TRANSLATIONS', '${internalFolder}/translations' );\n`;

/** The largest page fits into the buffers, so nginx writes none to a file. */
const serverBlock = (copy: string, sockets: string) => `
root ${join(copy, "public")};
index index.php;
location / { try_files $uri $uri/ /index.php?$args; }
location ~ \\.php$ {
  include /etc/nginx/fastcgi_params;
  fastcgi_param SCRIPT_FILENAME ${siteFolder}$fastcgi_script_name;
  fastcgi_param HTTP_HOST $http_host;
  fastcgi_param DOCUMENT_ROOT ${siteFolder};
  fastcgi_buffers 16 16k;
  fastcgi_pass unix:${join(sockets, "fpm.sock")};
}`;

interface Folders {
  readonly copy: string;
  readonly sockets: string;
}

/** The command that starts another one with the paths of an environment. */
async function namespaceOf(
  { overlays }: EdgeEnvironment,
  { assets, php: { root } }: Places,
  { copy, sockets }: Folders,
): Promise<readonly string[]> {
  const shared = { ...overlays, [driverPlace]: driverFolder(assets) };
  return [
    // Without a process namespace of its own, php-fpm would survive bubblewrap: a change of user undoes `--die-with-parent`.
    ...["bwrap", "--die-with-parent", "--unshare-pid", ...(process.getuid?.() === 0 ? ["--cap-add", "ALL"] : [])],
    ...["usr", "etc"].flatMap((name) => ["--ro-bind", join(root, name), `/${name}`]),
    ...["bin", "sbin", "lib", "lib64"].flatMap((name) => ["--symlink", `usr/${name}`, `/${name}`]),
    ...["--proc", "/proc", "--dev", "/dev", "--bind", sockets, "/run"],
    ...[sessionFolder, memoryFolder, internalFolder, "/tmp"].flatMap((path) => ["--perms", "1777", "--tmpfs", path]),
    ...["--bind", join(copy, "public"), siteFolder, "--bind", join(copy, "database"), databaseFolder],
    ...(await Promise.all(Object.entries(shared).map(mountShared))).flat(),
    "--",
  ];
}

async function mountShared([place, from]: readonly [string, string]): Promise<readonly string[]> {
  return ["--ro-bind", await realpath(from), `${siteFolder}/${place}`];
}

/** Starts it in a namespace. Resolves when it takes connections, with a function that ends it. */
async function startFpm(namespace: readonly string[], uid: number, { fpm }: PhpProgram): Promise<() => Promise<void>> {
  const user = process.getuid?.() === 0 ? ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups", "--"] : [];
  const settings = Object.entries({ ...phpSettings, auto_prepend_file: "/run/prepend.php" }).flatMap(
    ([name, value]) => ["-d", `${name}=${value}`],
  );
  const started = [
    ...namespace,
    ...user,
    fpm,
    "--nodaemonize",
    "--force-stderr",
    "--fpm-config",
    "/run/fpm.conf",
    ...settings,
  ];
  const [program = "", ...parameters] = started;
  const master = spawn(program, parameters, { stdio: ["ignore", "ignore", "pipe"] });
  const exited = once(master, "exit");
  const lines = createInterface({ input: master.stderr });
  const log: string[] = [];
  const ready = Promise.withResolvers<void>();
  lines.on("line", (line) => {
    log.push(line);
    if (line.includes("ready to handle connections")) ready.resolve();
  });
  lines.once("close", () => ready.reject(new Error(`php-fpm ended: ${log.join(" ")}`)));
  await ready.promise;
  return async () => {
    master.kill("SIGTERM");
    await exited;
  };
}

/** Two companies on one installation: one attacks, and the other, its victim, must not notice. */
import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Attacker } from "./attacks.ts";
import type { Installation } from "./installation.ts";
import { type CreatedSite, createSite, runOperation } from "./sites.ts";

const program = fileURLToPath(new URL("./attackProcess.ts", import.meta.url));
/** Until the attack has begun and the priorities of processes have adapted to it. */
const settleMilliseconds = 6_000;

/** Files that the attacks request. */
const attackerFiles = {
  "burn.php": "<?php $end = microtime(true) + 0.5; while (microtime(true) < $end) { md5(random_bytes(64)); } echo 1;",
  "sleep.php": "<?php echo str_repeat(' ', 8192); flush(); sleep(50);",
  "loop.php": "<?php echo file_get_contents('http://' . $_SERVER['HTTP_HOST'] . '/loop.php?' . mt_rand());",
  "sockets.php":
    "<?php echo 1; flush(); for ($i = 0; $i < 500; $i++) { $all[] = @stream_socket_client('tcp://' . $_SERVER['HTTP_HOST']); } sleep(20);",
  "load.css": "a{}".repeat(4_000),
  "large.php": "<?php for ($i = 0; $i < 64; $i++) { echo str_repeat('x', 65536); flush(); }",
  "mail.php": "<?php for ($i = 0; $i < 20; $i++) { @mail(\"a$i@example.com\", 's', 'b'); } echo 1;",
  "write.php":
    "<?php file_put_contents(__DIR__ . '/' . mt_rand(0, 9) . '.bin', file_get_contents('php://input')); echo 1;",
  "wp-content/mu-plugins/hang.php": "<?php add_action('user_register', fn() => sleep(20));",
};

/** Creates a hostile company with sites, as the operator and the company would. `folder` is the repository that runs. */
export async function addAttacker(installation: Installation, folder: string, sites: number): Promise<Attacker> {
  const parameters = ["run", "--silent", "operator", "--", "company", "create", "Attacker", "--json"];
  const env = { ...process.env, SITEWRIGHT_DATA: installation.data };
  const { stdout } = await promisify(execFile)("npm", parameters, { cwd: folder, env });
  const { company_id: companyId, api_key: key }: { company_id: string; api_key: string } = JSON.parse(stdout);
  const own: Installation = {
    ...installation,
    firstRun: { ...installation.firstRun, company_id: companyId, api_key: key },
    api: (method, path, body) => installation.api(method, path, body, key),
  };
  const created: CreatedSite[] = [];
  for (let count = 1; count <= sites; count += 1) {
    const site = await createSite(own, { display_name: `Attacker ${count}`, site_title: `Attacker ${count}` });
    const root = join(installation.data, "environments", site.environmentId, "current/public");
    for (const [name, content] of Object.entries(attackerFiles)) {
      await mkdir(dirname(join(root, name)), { recursive: true });
      await writeFile(join(root, name), content);
    }
    created.push(site);
  }
  return { apiUrl: installation.firstRun.api_url, key, companyId, sites: created };
}

/** Runs `work` during the attacks with these names. Its parameter returns those that have not reached their target yet. */
export async function under<T>(
  attacker: Attacker,
  names: readonly string[],
  work: (missing: () => readonly string[]) => Promise<T>,
): Promise<T> {
  const child = fork(program, [JSON.stringify(attacker), ...names], {
    detached: true,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const missing = new Set(names);
  child.on("message", (name: string) => missing.delete(name));
  const exited = once(child, "exit");
  try {
    await delay(settleMilliseconds);
    return await work(() => [...missing]);
  } finally {
    child.kill();
    await exited;
  }
}

/** What a victim does. Each call resolves with whether it succeeded. */
export type Victim = Readonly<Record<string, () => Promise<boolean>>>;

/** `site` belongs to the installation's first company. */
export function victimOf(installation: Installation, site: CreatedSite): Victim {
  let number = 0;
  const page = async (path: string) => {
    const answer = await installation.visit(`${site.address}${path}`);
    return answer.status === 200 && answer.text.includes("</html>");
  };
  const isOk = async (call: ReturnType<Installation["api"]>) => (await call).status === 200;
  return {
    "cached page": () => page("/"),
    "uncached page": () => {
      number += 1;
      return page(`/?uncached=${number}`);
    },
    "API read": () => isOk(installation.api("GET", `/sites/${site.id}`)),
    "API write": () => {
      number += 1;
      const body = { environment_id: site.environmentId, ip_list: [`198.51.100.${number % 250}`] };
      return isOk(installation.api("PUT", "/sites/tools/denied-ips", body));
    },
    "WP-CLI command": async () => {
      const path = `/sites/environments/${site.environmentId}/run-wp-cli-command`;
      const ended = await runOperation(installation, "POST", path, { wp_command: "wp option get blogname" });
      return ended.status === 200;
    },
  };
}

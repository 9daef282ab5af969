/** Builds the image, runs it with the capabilities that docs/production.md names, and creates a site in it. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..");
const name = `sitewright-test-${process.pid}`;
const buildMilliseconds = 900_000;

async function docker(...parameters: readonly string[]): Promise<string> {
  const { stdout } = await run("docker", parameters, { maxBuffer: 1 << 26 });
  return stdout.trim();
}

/** Creates a site by the API in the container, and prints the status of its front page as soon as it is 200. */
const createSite = `(async () => {
const facts = JSON.parse(fs.readFileSync("/var/lib/sitewright/first-run.json"));
const headers = { Authorization: "Bearer " + facts.api_key, "Content-Type": "application/json" };
const fields = { company: facts.company_id, display_name: "Demo", region: "this-machine", site_title: "Demo", wp_language: "en_US",
  admin_email: facts.admin_email, admin_user: "admin", admin_password: "change-me-soon" };
const created = await fetch(facts.api_url + "/sites", { method: "POST", headers, body: JSON.stringify(fields) });
if (created.status !== 202) throw new Error(await created.text());
const visit = () => new Promise((resolve, reject) => http.get({ host: "127.0.0.1", port: 80, headers: { host: "demo.localhost" } },
  (response) => resolve(response.resume().statusCode)).on("error", reject));
while (await visit() !== 200) await timers.promises.setTimeout(200);
console.log(200);
})()`;

const nativePhp = [
  ...["--env=SITEWRIGHT_RUNTIME=native", "--cap-add=SYS_ADMIN", "--cap-add=NET_ADMIN"],
  ...["seccomp=unconfined", "apparmor=unconfined", "systempaths=unconfined"].map(
    (option) => `--security-opt=${option}`,
  ),
];

test.for([
  { runtime: "WebAssembly", options: [] },
  { runtime: "native PHP", options: nativePhp },
])(
  "a container from the Dockerfile serves a site with $runtime",
  { timeout: 2 * buildMilliseconds },
  async ({ options }, { skip }) => {
    const problem = await docker("version").then(
      () => null,
      (error: Error) => error.message.trim().split("\n").at(-1),
    );
    if (problem !== null) return skip(`There is no docker engine: ${problem}`);
    await docker("build", "--tag", name, root);
    onTestFinished(() => docker("image", "rm", "--force", name).then(() => undefined));
    await docker("run", "--detach", "--name", name, "--volume", "/var/lib/sitewright", ...options, name);
    onTestFinished(() => docker("rm", "--force", "--volumes", name).then(() => undefined));
    const health = () => docker("inspect", "--format", "{{.State.Health.Status}}", name);
    await expect.poll(health, { timeout: 300_000 }).toBe("healthy");
    expect(await docker("exec", name, "node", "--eval", createSite)).toBe("200");
    await docker("stop", "--time", "60", name);
    expect(await docker("inspect", "--format", "{{.State.ExitCode}}", name)).toBe("0");
  },
);

import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAssetStore } from "../assets/store.ts";
import { addScript, runPhp, type Site, visitorOf } from "../testing/visitor.ts";
import { openPlayground, type Playground, sharedAssets } from "./testing/world.ts";

let world: Playground;
let tenant: Site;
let neighbour: Site;

beforeAll(async () => {
  process.env.SITEWRIGHT_TEST_SECRET = "secret-of-the-server";
  world = await openPlayground({ maxWorkers: 3 });
  tenant = await world.site();
  neighbour = await world.site();
}, 120_000);
afterAll(() => world.close());

const php = (code: string, site = tenant) => runPhp(world.serving, site, code);

test("files that a tenant changes in PHP's own folders reach no other tenant, and are gone after a restart", async () => {
  const leave = `file_put_contents('/internal/shared/auto_prepend_file.php', '<?php echo "MARK";');
    file_put_contents('/tmp/mark', 'x'); file_put_contents('/memory/mark', 'x'); echo 'left';`;
  const find = "echo json_encode([file_exists('/tmp/mark'), file_exists('/memory/mark')]);";
  expect(await php(leave)).toBe("left");
  expect(await php("echo 'own';")).toBe("MARKown");
  expect(await php(find, neighbour)).toBe("[false,false]");
  for (const { pid } of world.serving.status().workers) process.kill(pid, "SIGKILL");
  // Temporary files are no folder of PHP's own: the tenant keeps them.
  expect(await php(find)).toBe("[true,false]");
});

test("PHP sees no paths of the host", async () => {
  const output = await php("phpinfo(); echo json_encode([getenv(), ini_get_all(), $_SERVER, get_included_files()]);");
  for (const folder of [world.folder, sharedAssets, process.cwd(), path.dirname(process.execPath)]) {
    expect(output.replaceAll("\\/", "/")).not.toContain(`${folder}/`);
  }
});

describe("WordPress's shared code is read-only", () => {
  const file = "/site/wp-includes/version.php";

  test.each([
    ["file_put_contents", `file_put_contents('${file}', 'x')`],
    ["append", `fopen('${file}', 'a')`],
    ["open for update", `fopen('${file}', 'r+')`],
    ["create", "file_put_contents('/site/wp-includes/new.php', 'x')"],
    ["unlink", `unlink('${file}')`],
    ["chmod", `chmod('${file}', 0777)`],
    ["touch", `touch('${file}')`],
    ["mkdir", "mkdir('/site/wp-admin/new')"],
    ["rmdir", "rmdir('/site/wp-includes/fonts')"],
    ["rename into it", "rename('/site/index.php', '/site/wp-includes/index2.php')"],
    ["remove the folder itself", "rmdir('/site/wp-includes')"],
    ["move the folder away", "rename('/site/wp-includes', '/site/gone')"],
  ])("%s is refused", async (_name, expression) => {
    const { core } = await createAssetStore({ folder: sharedAssets }).files();
    const before = await readFile(path.join(core, "wp-includes/version.php"), "utf8");
    expect(await php(`var_dump((bool) @${expression});`)).toBe("bool(false)\n");
    expect(await readFile(path.join(core, "wp-includes/version.php"), "utf8")).toBe(before);
    expect(await php("echo file_exists('/site/index.php');")).toBe("1");
  });

  test("moving a file out copies it, and the original stays", async () => {
    await php(`@rename('${file}', '/site/copied.php');`);
    expect(await php(`echo file_exists('${file}') ? 'there' : 'gone';`)).toBe("there");
  });

  test("PHP reports it as read-only", async () => {
    expect(await php(`var_dump(is_writable('${file}'), is_writable('/site/wp-content'));`)).toBe(
      "bool(false)\nbool(true)\n",
    );
  });
});

describe("a tenant can't leave its folders", () => {
  test.each([
    "/etc/passwd",
    "/site/../../etc/passwd",
    "/site/wp-content/../../../../../../etc/passwd",
    "/proc/self/environ",
    "/proc/self/cwd/../../../etc/passwd",
    "file:///etc/passwd",
  ])("%s does not exist for PHP", async (name) => {
    expect(await php(`var_dump(@file_get_contents('${name}'));`)).toBe("bool(false)\n");
  });

  test("neither symbolic nor hard links can be made", async () => {
    const code = `foreach (['symlink', 'link'] as $make) {
      try { var_dump(@$make('/etc/passwd', '/site/escape')); } catch (Error $e) { echo "bool(false)\\n"; } }`;
    expect(await php(code)).toBe("bool(false)\nbool(false)\n");
  });

  test("existing links don't lead outside", async () => {
    await symlink("/etc/passwd", path.join(tenant.documentRoot, "absolute"));
    await symlink("../../../../../../../../etc", path.join(tenant.documentRoot, "relative"));
    await symlink(neighbour.documentRoot, path.join(tenant.documentRoot, "neighbour"));
    const reads = ["absolute", "relative/passwd", "neighbour/wp-config.php"].map((name) => `/site/${name}`);
    for (const name of reads) expect(await php(`var_dump(@file_get_contents('${name}'));`)).toBe("bool(false)\n");
  });

  test("a folder that is replaced by a link after a worker has read it leads nowhere outside", async () => {
    const folder = path.join(world.folder, "outside");
    await mkdir(folder, { mode: 0o700 });
    await writeFile(path.join(folder, "secret"), "secret", { mode: 0o600 });
    const code = `mkdir('/site/known'); touch('/site/known/secret'); @rename('/site/known', '/site/before');
      var_dump(@symlink('${folder}', '/site/known'));`;
    expect(await php(`try { ${code} } catch (Error $e) { echo 'refused'; }`)).toMatch(/refused|bool\(false\)/);
    expect(await php("var_dump(@file_get_contents('/site/known/secret'));")).toBe("bool(false)\n");
  });

  test("no program can be started", async () => {
    const names = ["exec", "shell_exec", "system", "passthru", "popen", "proc_open", "pcntl_fork", "dl"];
    const code = `foreach (${JSON.stringify(names)} as $name) echo function_exists($name) ? $name : '';`;
    expect(await php(code)).toBe("");
  });

  test("mail is refused, not silently dropped, if there is no mail delivery", async () => {
    expect(await php("var_dump(mail('a@example.com', 'subject', 'text'));")).toBe("bool(false)\n");
  });

  test("the server's settings are not in PHP's environment", async () => {
    const answer = await php("echo json_encode([getenv(), $_ENV, $_SERVER]);");
    expect(answer).not.toContain("secret-of-the-server");
  });
});

test.runIf(process.getuid?.() === 0)("a worker runs as the environment's own user", async () => {
  await visitorOf(world.serving, tenant).get("/");
  const worker = world.serving.status().workers.find((found) => found.environmentId === tenant.environment.id);
  const status = await readFile(`/proc/${worker?.pid}/status`, "utf8");
  const owner = 200_000 + tenant.environment.number;
  expect(status).toMatch(new RegExp(`Uid:\\s+${owner}\\s+${owner}\\s+${owner}\\s+${owner}`));
  expect(status).toMatch(new RegExp(`Gid:\\s+${owner}\\s+${owner}\\s+${owner}\\s+${owner}`));
  expect(status).toMatch(/Groups:\s*200000\s*\n/);
});

test.runIf(process.platform === "linux")(
  "a worker is the first to be killed if memory runs out, and gains no privileges",
  async () => {
    await visitorOf(world.serving, tenant).get("/");
    const { pid } = world.serving.status().workers[0] ?? {};
    expect((await readFile(`/proc/${pid}/oom_score_adj`, "utf8")).trim()).toBe("1000");
    expect(await readFile(`/proc/${pid}/status`, "utf8")).toMatch(/NoNewPrivs:\s*1\n/);
  },
);

test("two workers of a site lose no row when they write at the same time", async () => {
  const code = `$db = new PDO('sqlite:/database/counter.sqlite'); $db->setAttribute(PDO::ATTR_TIMEOUT, 20);
    $db->exec('CREATE TABLE IF NOT EXISTS rows_ (n INTEGER)');
    for ($i = 0; $i < 40; $i++) { $db->exec('INSERT INTO rows_ VALUES (1)'); usleep(5000); }
    echo $db->query('SELECT count(*) FROM rows_')->fetchColumn();`;
  await addScript(tenant, "count.php", code);
  const visitor = visitorOf(world.serving, tenant);
  await Promise.all([visitor.get("/count.php"), visitor.get("/count.php"), visitor.get("/count.php")]);
  expect(new Set(world.serving.status().workers.filter((w) => w.environmentId === tenant.environment.id)).size).toBe(2);
  expect((await visitor.get("/count.php")).text).toBe("160");
});

/** MySQL's named locks hold between PHP processes of a site. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { runPhp, type Site } from "../testing/visitor.ts";
import { openPlayground, type Playground } from "./testing/world.ts";

let world: Playground;
let site: Site;
beforeAll(async () => {
  world = await openPlayground({ maxWorkers: 3 });
  site = await world.site();
}, 120_000);
afterAll(() => world.close());

const load = "require 'wp-load.php'; $ask = fn ($sql) => json_encode($GLOBALS['wpdb']->get_var(\"SELECT $sql\"));";
const php = (code: string) => runPhp(world.serving, site, `${load} ${code}`);
const untilFile = (name: string) =>
  `for ($i = 0; $i < 3000 && !file_exists('/sessions/${name}'); $i++) { usleep(10000); clearstatcache(); }`;

test("a lock that one request has is not given to another until it is released", async () => {
  const holder = php(`
    echo $ask("GET_LOCK('Import', 0)"); touch('/sessions/held'); ${untilFile("asked")}
    echo $ask("RELEASE_LOCK('import')"); touch('/sessions/released');`);
  const other = php(`
    ${untilFile("held")}
    echo $ask("GET_LOCK('import', 0)"), $ask("IS_FREE_LOCK('import')"), $ask("RELEASE_LOCK('import')"), $ask("GET_LOCK('mails', 0)");
    touch('/sessions/asked'); echo $ask("GET_LOCK('import', 60)");`);
  expect(await Promise.all([holder, other])).toEqual(['"1""1"', '"0""0""0""1""1"']);
});

test("a lock ends with the request that had it", async () => {
  expect(await php(`echo $ask("GET_LOCK('backup', 0)");`)).toBe('"1"');
  expect(await php(`echo $ask("IS_FREE_LOCK('backup')"), $ask("RELEASE_LOCK('backup')");`)).toBe('"1"null');
});

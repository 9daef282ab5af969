/** Rollouts in a running control process: API, reconcilers, operations, and a mirror with zips. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeRuntime } from "@sitewright/runtimes/fake/runtime.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Control, startControl } from "./control.ts";
import { pluginZip } from "./packages/testing/zips.ts";
import { loadConfig } from "./settings/config.ts";
import { createTestDatabase, type TestDatabase } from "./testing/database.ts";
import { startTestEdge, type TestEdge } from "./testing/edge.ts";
import { silentLog } from "./testing/engine.ts";
import { startTestMirror, type TestMirror } from "./testing/mirror.ts";

const options = { timeout: 60_000 };
const file = "wp-content/plugins/shop/shop.php";

let data: string;
let own: TestDatabase;
let edge: TestEdge;
let mirror: TestMirror;
let control: Control;
let runtime: ReturnType<typeof createFakeRuntime>;

/** The parts of responses that these tests read. */
interface Body {
  readonly operation_id: string;
  readonly status: number;
  readonly data: { readonly idSite: string };
  readonly site: { readonly environments: readonly { readonly id: string }[] };
  readonly rollout: {
    readonly id: string;
    readonly state: string;
    readonly ended_at: string | null;
    readonly environments: readonly {
      readonly state: string;
      readonly operation_id: string;
      readonly reason: string;
    }[];
  };
}

async function call(method: string, path: string, body?: object): Promise<Body> {
  const { api_key } = JSON.parse(await readFile(join(data, "first-run.json"), "utf8"));
  const response = await fetch(`${control.url}/v2${path}`, {
    method,
    headers: { authorization: `Bearer ${api_key}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer: Body = JSON.parse(await response.text());
  return answer;
}

async function companyId(): Promise<string> {
  return (await own.database.selectFrom("companies").select("id").executeTakeFirstOrThrow()).id;
}

async function pluginOf(id: string): Promise<string> {
  const query = own.database.selectFrom("environments").select(["id", "number"]).where("id", "=", id);
  const layout = await runtime.layout(await query.executeTakeFirstOrThrow());
  return join(layout?.documentRoot ?? "", file);
}

async function versionIn(id: string): Promise<string | undefined> {
  return /Version: (\S+)/.exec(await readFile(await pluginOf(id), "utf8"))?.[1];
}

/** Creates a site whose environment has the plugin, and lists it. */
async function environmentWithPlugin(name: string): Promise<string> {
  const accepted = await call("POST", "/sites", {
    company: await companyId(),
    display_name: name,
    region: "europe-west3",
    install_mode: "new",
    admin_email: "ada@example.com",
    admin_password: `it's a "$ecret"`,
    admin_user: "ada",
    site_title: name,
    wp_language: "en_US",
  });
  const { data: created } = await call("GET", `/operations/${accepted.operation_id}?wait=20`);
  const [environment] = (await call("GET", `/sites/${created.idSite}`)).site.environments;
  const id = environment?.id ?? "";
  const plugin = await pluginOf(id);
  await mkdir(join(plugin, ".."), { recursive: true });
  await writeFile(plugin, "<?php\n/* Plugin Name: Shop\n * Version: 1.0 */\n");
  await own.database.updateTable("environments").set({ packages_read_at: null }).where("id", "=", id).execute();
  await call("GET", `/sites/environments/${id}/wp-plugins`);
  return id;
}

/** Returns the rollout when it has ended. */
async function rollOut(environments: readonly string[]): Promise<Body["rollout"]> {
  const path = `/company/${await companyId()}/rollouts`;
  const body = { type: "plugin", name: "shop", update_version: "2.0", environments, canaries: 1 };
  let { rollout } = await call("POST", path, body);
  const poll = async () => {
    ({ rollout } = await call("GET", `${path}/${rollout.id}`));
    return rollout.ended_at;
  };
  await expect.poll(poll, { timeout: 30_000, interval: 200 }).not.toBe(null);
  return rollout;
}

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "swrollouts-"));
  own = await createTestDatabase({ template: "template0" });
  edge = await startTestEdge(data);
  mirror = await startTestMirror(join(data, "packages"));
  await writeFile(join(data, "packages", "shop.zip"), await pluginZip("shop", "2.0"));
  runtime = createFakeRuntime({ folder: join(data, "fake") });
  const config = loadConfig({
    SITEWRIGHT_DATA: data,
    SITEWRIGHT_RUN: edge.runFolder,
    SITEWRIGHT_CONTROL_PORT: "0",
    SITEWRIGHT_WPORG_URL: mirror.url,
    SITEWRIGHT_EDGE_PORT: String(edge.edge.port),
    DATABASE_URL: own.url,
  });
  control = await startControl({ config, runtimes: { playground: runtime }, log: silentLog });
});
afterEach(async () => {
  await control.stop();
  await mirror[Symbol.asyncDispose]();
  await edge[Symbol.asyncDispose]();
  await own.drop();
  await rm(data, { recursive: true });
});

test("a rollout updates its canary, and then the others", options, async () => {
  const ids = [await environmentWithPlugin("a"), await environmentWithPlugin("b"), await environmentWithPlugin("c")];
  const { state, environments } = await rollOut(ids);
  expect([state, environments.map((one) => one.state)]).toEqual(["ended", ["updated", "updated", "updated"]]);
  expect(await Promise.all(ids.map(versionIn))).toEqual(["2.0", "2.0", "2.0"]);
  const times = environments.map(({ operation_id }) =>
    own.database
      .selectFrom("operations")
      .select(["created_at", "finished_at"])
      .where("id", "=", operation_id)
      .executeTakeFirstOrThrow(),
  );
  const [canary, ...others] = await Promise.all(times);
  for (const other of others) expect(other.created_at >= (canary?.finished_at ?? new Date())).toBe(true);
});

test("a rollout stops if its canary can't be updated", options, async () => {
  const ids = [await environmentWithPlugin("a"), await environmentWithPlugin("b")];
  const [canary = ""] = ids;
  const message = "The folder of the plugins can't be written to.";
  await runtime.script.setFaults([
    { method: "installPackages", environmentId: canary, when: "before", kind: "fail", message },
  ]);
  const { state, environments } = await rollOut(ids);
  expect([state, environments.map((one) => one.state)]).toEqual(["stopped", ["failed", "skipped"]]);
  expect(environments[0]?.reason).toBe(message);
  expect(await Promise.all(ids.map(versionIn))).toEqual(["1.0", "1.0"]);
});

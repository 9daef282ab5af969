/** The demo answers every call of the console as the contract says. */
import type { Endpoint } from "@sitewright/contract/endpoint.ts";
import { endpoints } from "@sitewright/contract/endpoints.ts";
import { permissionsOf as permissionsInProduct } from "@sitewright/server/app/company/permissions.ts";
import { notCalled as notCalledByConsole } from "@sitewright/server/http/testing/consoleCalls.ts";
import { problemsOf } from "@sitewright/server/http/testing/documentedAnswers.ts";
import { describe, expect, it } from "vitest";
import { calls, callsOfProvider, handlers, notCalled } from "./api/handlers.ts";
import { permissionsOf } from "./api/sessionViews.ts";
import { requests } from "./testing/requests.ts";
import { endOfOperations, fastWorld, isEndpoint, type Sent, send, sendKnown } from "./testing/send.ts";
import { idOf } from "./world/ids.ts";
import { makeWorld } from "./world/makeWorld.ts";
import type { World } from "./world/world.ts";

const names = Object.keys({ ...calls, ...handlers });

const isText = ({ responses }: Endpoint): boolean =>
  Object.values(responses).some(({ mediaTypes }) => mediaTypes !== undefined);

/** The differences between an answer and the contract. */
function problemsOfAnswer(name: string, { status, body }: Sent): readonly string[] {
  if (!isEndpoint(name)) return ["There is no such endpoint"];
  const row = endpoints[name];
  return isText(row) ? [] : problemsOf(row, status, body);
}

const changes = ["createSite", "deleteEnvironment", "addDomain", "createRollout", "inviteUser"];

/** Expected refusals after those changes, by endpoint: the code, or the status if there is none. */
const refusedAfterChanges: Readonly<Record<string, string | number>> = {
  createSite: "site_name_taken",
  createPlainSite: "site_name_taken",
  cloneSite: "site_name_taken",
  deleteEnvironment: 404,
  pushEnvironment: 404,
  addDomain: "domain_taken",
  createRollout: "nothing_to_update",
};

async function endOfRollouts({ rollouts }: World): Promise<void> {
  while (rollouts.some(({ state }) => state === "running")) await new Promise(setImmediate);
}

const messageIn = (body: unknown): string => String(Object(body).message ?? "");

describe("every call", () => {
  it("of the console has a handler, except those to a provider, and no other has one", () => {
    expect([...notCalled].toSorted()).toEqual([...notCalledByConsole].toSorted());
    const without: readonly string[] = [...notCalledByConsole, ...callsOfProvider];
    const all = Object.keys(endpoints).filter((name) => !without.includes(name));
    expect(names.toSorted()).toEqual(all.toSorted());
    expect(Object.keys(requests).toSorted()).toEqual(all.toSorted());
  });

  it.each(names)("is answered with success, as documented: %s", async (name) => {
    const world = fastWorld();
    const answer = await sendKnown(world, name);
    expect(answer.status, messageIn(answer.body)).toBeLessThan(300);
    expect(problemsOfAnswer(name, answer)).toEqual([]);
    await endOfOperations(world);
    const [latest] = world.operations;
    if (world.sessionId === null || latest === undefined) return;
    const followed = await send(world, "getOperation", { params: { operation_id: latest.id } });
    expect(followed.status).toBe(200);
    expect(problemsOfAnswer("getOperation", followed)).toEqual([]);
  });

  it.each(names)("is answered as documented after five changes, and refused if they rule it out: %s", async (name) => {
    const world = fastWorld();
    for (const change of changes) {
      expect((await sendKnown(world, change)).status).toBeLessThan(300);
      await endOfOperations(world);
      await endOfRollouts(world);
    }
    const answer = await sendKnown(world, name);
    const code = answer.status < 300 ? null : (Object(answer.body).data?.code ?? answer.status);
    expect([code, problemsOfAnswer(name, answer)]).toEqual([refusedAfterChanges[name] ?? null, []]);
  });
});

const site = { company: idOf("company"), display_name: "New site", region: "this-machine" };

describe("a change", () => {
  it("takes effect when its operation has ended", async () => {
    const world = fastWorld();
    const count = async () => Object((await send(world, "listSites", {})).body).company.sites.length;
    const before = await count();
    const { status } = await send(world, "createPlainSite", { body: site });
    expect([status, await count()]).toEqual([202, before]);
    await endOfOperations(world);
    expect(await count()).toBe(before + 1);
  });

  it("of a name that begins with “fail” fails, and leaves nothing", async () => {
    const world = fastWorld();
    const before = world.sites.length;
    const { body } = await send(world, "createPlainSite", { body: { ...site, display_name: "Fail, please" } });
    await endOfOperations(world);
    const ended = await send(world, "getOperation", { params: { operation_id: String(Object(body).operation_id) } });
    expect([ended.status, problemsOfAnswer("getOperation", ended), world.sites.length]).toEqual([500, [], before]);
  });

  it("of an environment that is busy fails at once", async () => {
    const world = fastWorld();
    const body = { environment_id: idOf("harbour-cafe live") };
    await send(world, "clearCache", { body });
    const second = await send(world, "restartPhp", { body });
    const params = { operation_id: String(Object(second.body).operation_id) };
    const followed = await send(world, "getOperation", { params });
    expect([followed.status, Object(followed.body).data.code]).toEqual([500, "environment_busy"]);
    expect(problemsOfAnswer("getOperation", followed)).toEqual([]);
  });

  it("is refused as the contract says, in its words", async () => {
    const world = fastWorld();
    const malformed = await send(world, "createSite", { body: { ...site, display_name: "" } });
    expect(malformed.status).toBe(400);
    expect(Object(malformed.body).data.errors).toContainEqual({ path: "/display_name", message: "must not be empty" });
    expect(Object(malformed.body).data.errors).toContainEqual({ path: "/admin_email", message: "is required" });
    const taken = await send(world, "createPlainSite", { body: { ...site, display_name: "harbour café" } });
    expect([taken.status, Object(taken.body).data.code]).toEqual([400, "site_name_taken"]);
    expect([malformed, taken].flatMap((answer) => problemsOfAnswer("createSite", answer))).toEqual([]);
  });

  it("needs the role that the contract wants, and reads show a client only their site", async () => {
    const world = fastWorld();
    await send(world, "signIn", { body: { email: "elena@harbour-cafe.example", password: "whatever it is" } });
    const listed = await send(world, "listSites", {});
    const ids = Object(listed.body).company.sites.map(({ id }: { readonly id: string }) => id);
    expect(ids).toEqual([idOf("site harbour-cafe")]);
    const unseen = await send(world, "getSite", { params: { site_id: idOf("site river-clinic") } });
    expect(unseen.status).toBe(404);
    const body = { environment_id: idOf("harbour-cafe live") };
    const forbidden = await send(world, "clearCache", { body });
    expect([forbidden.status, problemsOfAnswer("clearCache", forbidden)]).toEqual([403, []]);
    await send(world, "signOut", {});
    const nobody = await send(world, "clearCache", { body });
    expect([nobody.status, problemsOfAnswer("clearCache", nobody)]).toEqual([401, []]);
  });
});

const roles = ["owner", "admin", "developer", "billing", "viewer"] as const;
const limits = [null, [idOf("site harbour-cafe")], []];

it.each(roles.flatMap((role) => limits.map((sites) => [role, sites] as const)))(
  "a person with the role %s and the sites %j may do what they may do in the product",
  (role, sites) => {
    const inProduct = permissionsInProduct({ role, site_ids: sites });
    expect(permissionsOf({ role, siteIds: sites }).toSorted()).toEqual(inProduct.toSorted());
  },
);

it("exports the activity of one category and time alone", async () => {
  const world = fastWorld();
  await sendKnown(world, "createApiKey");
  const exported = async (query: Readonly<Record<string, string>>): Promise<string[]> => {
    const { body } = await send(world, "exportActivity", { params: { id: idOf("company") }, query });
    const lines = String(body)
      .split("\n")
      .filter((line) => line !== "");
    return lines.map((line) => String(Object(JSON.parse(line)).type));
  };
  expect((await exported({})).length).toBeGreaterThan(1);
  expect(await exported({ category: "userManagement" })).toEqual(["createApiKey"]);
  const anHourAgo = new Date(Date.now() - 3_600_000).toISOString();
  const [before, after] = [await exported({ to: anHourAgo }), await exported({ from: anHourAgo })];
  expect(before).not.toContain("createApiKey");
  expect(after).toContain("createApiKey");
  expect([...before, ...after]).toEqual(await exported({}));
});

describe("a rollout whose updates can't begin any more", () => {
  const leftBehind = {
    "because somebody has updated the package": ({ sites }: World) => {
      const packages = sites.flatMap(({ environments }) => environments.flatMap((one) => one.packages));
      for (const one of packages) delete one.newest;
    },
    "because nobody is signed in": (world: World) => {
      world.sessionId = null;
    },
  };

  it.each(Object.entries(leftBehind))("ends, and says so: %s", async (_, change) => {
    const due: (() => void)[] = [];
    const world = makeWorld({ now: Date.now, later: (_milliseconds, work) => due.push(work) });
    await sendKnown(world, "createRollout");
    change(world);
    for (let work = due.shift(); work !== undefined; work = due.shift()) work();
    const [rollout] = world.rollouts;
    expect([rollout?.state, rollout?.counts.failed]).toEqual(["ended", rollout?.environments.length]);
    expect(rollout?.environments.filter(({ reason, ended_at }) => !reason || ended_at === null)).toEqual([]);
  });
});

it("gives a reason why there are no passkeys, and offers none for signing in", async () => {
  const world = fastWorld();
  const options = await send(world, "getSignInOptions", {});
  expect(Object(options.body).sign_in_options.passkeys_unavailable_because).toMatch(/^The demo has no passkeys/);
  const body = { email: "chiyo@meadow.example", password: "whatever it is" };
  const needed = await send(world, "signIn", { body });
  expect(Object(needed.body).data).toEqual({ code: "second_factor_needed", factors: ["code"] });
  expect(problemsOfAnswer("signIn", needed)).toEqual([]);
});

it("says what happens as events, as the console listens to them", async () => {
  const world = fastWorld();
  const types: string[] = [];
  world.listeners.add(({ type }) => types.push(type));
  await send(world, "createPlainSite", { body: site });
  await endOfOperations(world);
  expect(types.slice(0, 3)).toEqual(["activity.recorded", "operation.started", "operation.progress"]);
  expect(types.slice(-2)).toEqual(["site.created", "operation.succeeded"]);
});

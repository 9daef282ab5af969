import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();

async function twoEnvironments() {
  const { addEnvironment, addSite } = test.current;
  const siteId = await addSite();
  const { id, liveId } = await addEnvironment(siteId);
  return { siteId, staging: id, live: liveId };
}

async function push(siteId: string, body: Readonly<Record<string, unknown>>, key?: string) {
  return test.current.call("PUT", `/v2/sites/${siteId}/environments`, { body, ...(key && { key }) });
}

async function startPush(more: Readonly<Record<string, unknown>> = {}) {
  const { siteId, staging, live } = await twoEnvironments();
  const answer = await push(siteId, { source_env_id: staging, target_env_id: live, ...more });
  expect(answer.status).toBe(202);
  const row = await test.current.database
    .selectFrom("operations")
    .selectAll()
    .where("id", "=", answer.body.operation_id)
    .executeTakeFirstOrThrow();
  return { answer, row, staging, live };
}

describe("PUT /sites/{site_id}/environments", () => {
  it("pushes everything and replaces addresses by default", async () => {
    const { answer, row, staging, live } = await startPush();
    expect(answer.body).toMatchObject({
      operation_id: expect.stringMatching(/^environments:push-/),
      message: "Pushing environment in progress",
    });
    expect(row).toMatchObject({ kind: "pushEnvironment", environment_id: live });
    expect(row.input).toMatchObject({
      source: { id: staging },
      target: { id: live },
      files: "all",
      database: "all",
      addresses: [{ from: expect.stringContaining("http://staging-"), to: expect.stringContaining("http://site-") }],
    });
  });

  it.each([
    [{ push_db: false }, { files: "all", database: "none" }],
    [{ push_files: false }, { files: "none", database: "all" }],
    [{ run_search_and_replace: false }, { addresses: [] }],
    [{ push_files_option: "SPECIFIC_FILES", file_list: ["wp-content/themes/a"] }, { files: ["wp-content/themes/a"] }],
    [{ push_tables: ["wp_posts"] }, { database: ["wp_posts"], files: "all" }],
    [{ file_list: ["ignored"] }, { files: "all" }],
  ])("passes the options %o to the operation", async (options, input) => {
    expect((await startPush(options)).row.input).toMatchObject(input);
  });

  it("starts a comparing operation for a dry run", async () => {
    const { answer, row } = await startPush({ dry_run: true });
    expect([row.kind, answer.body.message]).toEqual(["comparePush", "Comparing environments in progress"]);
  });

  it.each<[Readonly<Record<string, unknown>>, string]>([
    [{ push_db: false, push_files: false }, "nothing_to_push"],
    [{ push_files_option: "SPECIFIC_FILES" }, "file_list_missing"],
    [{ push_files_option: "SPECIFIC_FILES", file_list: [] }, "file_list_missing"],
    ...["../x", "a/../../x", "/etc/passwd", "\\x", "C:\\x", "a\\..\\b"].map(
      (path): [Readonly<Record<string, unknown>>, string] => [
        { push_files_option: "SPECIFIC_FILES", file_list: ["ok", path] },
        "file_outside_root",
      ],
    ),
  ])("refuses %o", async (options, code) => {
    const { siteId, staging, live } = await twoEnvironments();
    const answer = await push(siteId, { source_env_id: staging, target_env_id: live, ...options });
    expect(answer.status).toBe(400);
    expect(answer.body.data.code).toBe(code);
  });

  it("refuses NUL in a path", async () => {
    const { siteId, staging, live } = await twoEnvironments();
    const body = {
      source_env_id: staging,
      target_env_id: live,
      push_files_option: "SPECIFIC_FILES",
      file_list: ["a\0b"],
    };
    const answer = await push(siteId, body);
    expect(answer.status).toBe(400);
    expect(answer.body.data.errors[0].path).toBe("/file_list/0");
  });

  it("refuses to push an environment to itself, and environments of other sites", async () => {
    const { siteId, staging, live } = await twoEnvironments();
    const other = await twoEnvironments();
    const itself = await push(siteId, { source_env_id: live, target_env_id: live.toUpperCase() });
    expect(itself.body).toMatchObject({ status: 400, data: { code: "push_to_itself" } });
    for (const [source, target, field] of [
      [other.staging, live, "source_env_id"],
      [staging, other.live, "target_env_id"],
      [randomUUID(), live, "source_env_id"],
    ]) {
      const answer = await push(siteId, { source_env_id: source, target_env_id: target });
      expect(answer.body).toMatchObject({ status: 400, data: { code: "not_of_this_site", fields: [field] } });
    }
  });

  it("forbids non-live keys to push to the live environment, except as a dry run", async () => {
    const { siteId, staging, live } = await twoEnvironments();
    const { token } = await test.current.addKey({ scopes: ["push", "non-live"] });
    const refused = await push(siteId, { source_env_id: staging, target_env_id: live }, token);
    expect(refused.body).toMatchObject({ status: 403, data: { needs: "live" } });
    expect((await push(siteId, { source_env_id: live, target_env_id: staging }, token)).status).toBe(202);
    const dryRun = { source_env_id: staging, target_env_id: live, dry_run: true };
    expect((await push(siteId, dryRun, token)).status).toBe(202);
  });

  it("answers 202 if an environment is busy; the operation fails, or waits on request", async () => {
    const { call } = test.current;
    const { siteId, staging, live } = await twoEnvironments();
    await call("POST", "/v2/sites/tools/restart-php", { body: { environment_id: staging } });
    const body = { source_env_id: staging, target_env_id: live };
    const states = [];
    for (const whenBusy of ["fail", "queue"]) {
      const headers = { "when-busy": whenBusy };
      const { status, body: answer } = await call("PUT", `/v2/sites/${siteId}/environments`, { body, headers });
      expect(status).toBe(202);
      states.push((await call("GET", `/v2/operations/${answer.operation_id}`)).status);
    }
    expect(states).toEqual([500, 202]);
  });

  it("names the blocking operations if it fails because an environment is busy", async () => {
    const { call } = test.current;
    const { siteId, staging, live } = await twoEnvironments();
    const holder = await call("POST", "/v2/sites/tools/restart-php", { body: { environment_id: staging } });
    const body = { source_env_id: staging, target_env_id: live };
    const { body: answer } = await call("PUT", `/v2/sites/${siteId}/environments`, { body });
    const { data } = (await call("GET", `/v2/operations/${answer.operation_id}`)).body;
    const blocked_by = [{ operation_id: holder.body.operation_id, kind: "restartPhp" }];
    expect(data).toMatchObject({ code: "environment_busy", blocked_by });
  });

  it("answers 409 with When-Busy: refuse, and leaves nothing behind", async () => {
    const { call, succeed } = test.current;
    const { siteId, staging, live } = await twoEnvironments();
    const holder = await call("POST", "/v2/sites/tools/restart-php", { body: { environment_id: staging } });
    const push = () =>
      call("PUT", `/v2/sites/${siteId}/environments`, {
        body: { source_env_id: staging, target_env_id: live },
        headers: { "when-busy": "refuse", "idempotency-key": `push-${siteId}` },
      });
    const refused = await push();
    expect(refused.body).toEqual({
      message: "The environment is blocked by another process. Please try again a bit later.",
      status: 409,
      data: {
        code: "environment_busy",
        blocked_by: [{ operation_id: holder.body.operation_id, kind: "restartPhp" }],
      },
    });
    const { operations } = (await call("GET", `/v2/operations?site_id=${siteId}`)).body.company;
    expect(operations.items.map(({ kind }: { kind: string }) => kind)).not.toContain("pushEnvironment");
    await succeed(holder.body.operation_id);
    expect((await push()).status).toBe(202);
  });
});

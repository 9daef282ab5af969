import { describe, expect, it } from "vitest";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();

const run = async (body: Readonly<Record<string, unknown>> | string, key?: string) => {
  const { id } = await test.current.addSiteWithEnvironment();
  const path = `/v2/sites/environments/${id}/run-wp-cli-command`;
  return test.current.call("POST", path, { body, ...(key && { key }) });
};

async function rowOf(operationId: string) {
  const { database } = test.current;
  return database.selectFrom("operations").selectAll().where("id", "=", operationId).executeTakeFirstOrThrow();
}

describe("POST /sites/environments/{env_id}/run-wp-cli-command", () => {
  it("starts an operation that stores the command sealed", async () => {
    const answer = await run({ argv: ["user", "create", "bob", "bob@example.com", "--user_pass=pa$$ & word"] });
    expect(answer.body).toEqual({
      operation_id: expect.stringMatching(/^environment:run-wp-cli-command-/),
      message: "Running a WP CLI command in progress",
      status: 202,
    });
    const { secret, ...row } = await rowOf(answer.body.operation_id);
    expect(JSON.stringify(row)).not.toContain("word");
    const opened = test.current.operations.sealer.open(secret ?? Buffer.alloc(0), answer.body.operation_id);
    expect(JSON.parse(opened)).toEqual(["user", "create", "bob", "bob@example.com", "--user_pass=pa$$ & word"]);
  });

  it("records the command in the activity log, without its values", async () => {
    await run({ argv: ["config", "set", "DB_PASSWORD", "hunter2"] });
    const { company_id: id } = test.current.company;
    const { body } = await test.current.call("GET", `/v2/company/${id}/activity-logs?limit=1`);
    const [entry] = body.company.activity_logs.items;
    expect(entry.descriptions[0]).toContain("“wp config set”");
    expect(JSON.stringify(entry)).not.toContain("hunter2");
  });

  it("splits wp_command into words", async () => {
    const { body } = await run({ wp_command: "wp option update blogname 'My garden'" });
    const { secret } = await rowOf(body.operation_id);
    const opened = test.current.operations.sealer.open(secret ?? Buffer.alloc(0), body.operation_id);
    expect(JSON.parse(opened)).toEqual(["option", "update", "blogname", "My garden"]);
  });

  it.each([
    "plugin list",
    "wp",
    "wp ",
    "wp plugin list; rm -rf /",
    "wp plugin list && id",
    "wp eval $(id)",
    "wp plugin list | cat",
    "wp eval `id`",
    'wp option get "x"',
    "wp option get x\\y",
    "wp option get ä",
    `wp ${"a".repeat(5000)}`,
    7,
    null,
  ])("refuses %j", async (command) => {
    const answer = await run({ wp_command: command });
    expect(answer.status).toBe(400);
    expect(answer.body.data.errors[0].path).toBe("/wp_command");
  });

  it.each([
    [["a\0b"]],
    [["a\nb"]],
    [[]],
    [Array.from({ length: 201 }, () => "a")],
    [["a".repeat(10_001)]],
    [[7]],
    ["plugin list"],
  ])("refuses invalid argv: %#", async (argv) => {
    expect((await run({ argv })).body).toMatchObject({ status: 400, message: "Bad request format" });
  });

  it.each(["{}", ""])("refuses the body %j, which has no command", async (body) => {
    expect((await run(body)).body).toMatchObject({ status: 400, message: "Bad request format" });
  });

  it.each([
    { wp_command: "wp plugin list", argv: ["plugin", "list"] },
    { wp_command: "wp option get 'x" },
    { argv: ["wp", "plugin", "list"] },
  ])("refuses the unclear command %j", async (body) => {
    expect((await run(body)).body).toMatchObject({ status: 400, data: { code: "wp_cli_command_unclear" } });
  });

  it("refuses unsupported commands and names the alternative", async () => {
    const { body } = await run({ wp_command: "wp db reset" });
    expect(body).toMatchObject({ status: 400, data: { code: "wp_cli_command_unsupported", command: "wp db reset" } });
    expect(body.message).toContain("reset-site");
  });

  it("is forbidden for read-only keys, and a 404 for other companies", async () => {
    const { token } = await test.current.addKey({ scopes: ["read"] });
    expect((await run({ wp_command: "wp plugin list" }, token)).status).toBe(403);
    const other = test.current.otherCompany.api_key;
    expect((await run({ wp_command: "wp plugin list" }, other)).status).toBe(404);
  });
});

describe("the output of a command", () => {
  const output = { stdout: "secret", exit_code: 1 };

  async function failedCommand() {
    const { body } = await run({ wp_command: "wp plugin list" });
    const id: string = body.operation_id;
    const { sealer } = test.current.operations;
    const result = { sealed: sealer.seal(JSON.stringify(output), id).toString("base64") };
    const { endOperation } = await import("@sitewright/server/store/operations.ts");
    await test.current.database
      .transaction()
      .execute((transaction) => endOperation(transaction, id, { state: "failed", publicError: "Error: x", result }));
    return id;
  }

  it("is sealed in the database, and returned with the operation even if it failed", async () => {
    const id = await failedCommand();
    expect(JSON.stringify((await rowOf(id)).result)).not.toContain("secret");
    const { status, body } = await test.current.call("GET", `/v2/operations/${id}`);
    expect(status).toBe(500);
    expect(body.data).toMatchObject({ message: "Error: x", result: output });
  });

  it("is hidden from read-only keys", async () => {
    const id = await failedCommand();
    const { token: key } = await test.current.addKey({ scopes: ["read"] });
    const { status, text } = await test.current.call("GET", `/v2/operations/${id}`, { key });
    expect(status).toBe(500);
    expect(text).not.toContain("secret");
  });
});

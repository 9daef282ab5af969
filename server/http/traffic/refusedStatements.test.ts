import { refusedStatementMark } from "@sitewright/runtimes/refusedStatements.ts";
import { describe, expect, it } from "vitest";
import type { LogQuery } from "../../logs/logs.ts";
import { useTestServer } from "../testing/server.ts";

let queries: LogQuery[] = [];
let log: readonly string[] = [];
const test = useTestServer({
  readLog: async (query) => {
    queries.push(query);
    return { text: log.join("\n"), isComplete: true };
  },
});

const at = (second: number) => Date.UTC(2026, 10, 26, 12, 0, second);
function refused(second: number, reason: string, statement: string, plugin?: string): string {
  const by =
    plugin === undefined ? "made by require('wp-blog-header.php')" : `made by do_action('init') in plugin ${plugin}`;
  const time = new Date(at(second)).toISOString();
  return `[${time}] ${refusedStatementMark}${reason} for query ${statement} ${by}`;
}

async function list() {
  const { addSiteWithEnvironment, call } = test.current;
  const { id } = await addSiteWithEnvironment();
  queries = [];
  return { id, answer: await call("GET", `/v2/sites/environments/${id}/refused-statements`) };
}

describe("GET /sites/environments/{env_id}/refused-statements", () => {
  it("counts refused statements by plugin and reason, the latest first", async () => {
    log = [
      refused(1, "This database has no triggers", "CREATE TRIGGER a", "shop"),
      refused(2, "function ST_DISTANCE", "SELECT ST_DISTANCE(a, b)"),
      refused(3, "This database has no triggers", "CREATE TRIGGER b", "backup"),
      refused(4, "This database has no triggers", "CREATE TRIGGER c made by us for query x", "shop"),
    ];
    const { id, answer } = await list();
    expect(answer.status).toBe(200);
    expect(answer.body.environment).toEqual({
      refused_statements: [
        {
          ...{ reason: "This database has no triggers", plugin: "shop", count: 2 },
          ...{ first_refused_at: at(1), last_refused_at: at(4), latest_statement: "CREATE TRIGGER c" },
        },
        {
          ...{ reason: "This database has no triggers", plugin: "backup", count: 1 },
          ...{ first_refused_at: at(3), last_refused_at: at(3), latest_statement: "CREATE TRIGGER b" },
        },
        {
          ...{ reason: "function ST_DISTANCE", plugin: null, count: 1 },
          ...{ first_refused_at: at(2), last_refused_at: at(2), latest_statement: "SELECT ST_DISTANCE(a, b)" },
        },
      ],
      is_complete: true,
    });
    expect(queries).toMatchObject([
      { environmentId: id, log: "error", search: expect.stringContaining("Not supported") },
    ]);
  });

  it("is empty if nothing was refused, and skips lines that say something else", async () => {
    log = ["", `no time ${refusedStatementMark}x for query y`, "[2026-11-26T12:00:00.000Z] PHP Warning"];
    expect((await list()).answer.body.environment).toEqual({ refused_statements: [], is_complete: true });
  });

  it("limits what a plugin can make it return", async () => {
    log = Array.from({ length: 500 }, (_, second) =>
      refused(second, `syntax near "${"x".repeat(2000)}"`, "y".repeat(5000), `p${second}`),
    );
    const { refused_statements: statements } = (await list()).answer.body.environment;
    expect(statements).toHaveLength(100);
    expect(statements[0].reason).toHaveLength(200);
    expect(statements[0].latest_statement).toHaveLength(500);
  });
});

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { useTestDatabase } from "./testing/database.ts";

const test = useTestDatabase();
const program = join(import.meta.dirname, "operator.ts");
let data = "";
beforeAll(() => {
  data = mkdtempSync(join(tmpdir(), "sw-operator-"));
});
afterAll(() => rmSync(data, { recursive: true, force: true }));

interface Outcome {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

function operator(given: readonly string[], settings: NodeJS.ProcessEnv): Promise<Outcome> {
  const env = { PATH: process.env.PATH, SITEWRIGHT_DATA: data, ...settings };
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...given], { env }, (error, output, errors) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, output, errors });
    });
  });
}

describe("operator company create", () => {
  it("makes a company with an owner and a key, and prints nothing but JSON", async () => {
    const made = await operator(["company", "create", 'Zweite Firma "& Söhne"', "--json"], {
      DATABASE_URL: test.url,
    });
    expect(made).toMatchObject({ code: 0, errors: "" });
    const facts: Record<string, string> = JSON.parse(made.output);
    expect(Object.keys(facts)).toEqual(["company_id", "api_key", "admin_email", "admin_password"]);
    const company = await test.database
      .selectFrom("companies")
      .innerJoin("users", "users.company_id", "companies.id")
      .innerJoin("api_keys", "api_keys.user_id", "users.id")
      .select(["companies.name", "users.email", "users.role"])
      .where("companies.id", "=", facts.company_id ?? "")
      .execute();
    expect(company).toEqual([{ name: 'Zweite Firma "& Söhne"', email: facts.admin_email, role: "owner" }]);
  });

  it("tells a person the same in words", async () => {
    const { code, output } = await operator(["company", "create", "Third"], { DATABASE_URL: test.url });
    expect(code).toBe(0);
    expect(output).toMatch(/^The company "Third" is made\..*\n {2}Company {3}[0-9a-f-]{36}\n {2}API key {3}sk_\S+\n/);
  });

  it("finds the database of the running installation by the data folder", async () => {
    writeFileSync(join(data, "run.json"), JSON.stringify({ pid: 1, database_url: test.url, api_url: "" }));
    const { code } = await operator(["company", "create", "Fourth", "--json"], {});
    rmSync(join(data, "run.json"));
    expect(code).toBe(0);
  });

  it("says what to do where nothing runs, or where what ran was killed", async () => {
    const before = await operator(["company", "create", "X"], {});
    writeFileSync(
      join(data, "run.json"),
      JSON.stringify({ pid: 1, database_url: `postgresql://postgres@localhost/postgres?host=${data}`, api_url: "" }),
    );
    const after = await operator(["company", "create", "X"], {});
    rmSync(join(data, "run.json"));
    for (const outcome of [before, after]) {
      expect(outcome).toMatchObject({ code: 1, output: "" });
      expect(outcome.errors).toContain(`Sitewright is not running on ${data}. Start it with: npm start\n`);
    }
  });

  it("says why a name can't be used", async () => {
    const { code, output, errors } = await operator(["company", "create", "  "], { DATABASE_URL: test.url });
    expect({ code, output }).toEqual({ code: 1, output: "" });
    expect(errors).toContain("name must be 1 to 200 characters");
  });

  it("says which settings are wrong", async () => {
    const { code, errors } = await operator(["company", "create", "X"], { SITEWRIGHT_CONTROL_PORT: "x" });
    expect(code).toBe(2);
    expect(errors).toContain("SITEWRIGHT_CONTROL_PORT=x is not accepted");
  });

  it.each([
    [[]],
    [["company"]],
    [["company", "create"]],
    [["company", "drop", "X"]],
    [["company", "create", "a", "b"]],
    [["--nonsense"]],
  ])("shows its usage for %j", async (given) => {
    const { code, output, errors } = await operator(given, { DATABASE_URL: test.url });
    expect({ code, output }).toEqual({ code: 2, output: "" });
    expect(errors).toContain('Usage: npm run --silent operator -- company create "<name>" [--json]');
  });

  it("shows its usage when asked for it", async () => {
    const { code, output } = await operator(["--help"], {});
    expect(code).toBe(0);
    expect(output).toContain("Usage: ");
  });
});

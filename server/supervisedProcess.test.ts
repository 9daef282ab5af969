import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { databaseUnreachable } from "./supervisedProcess.ts";

const withFacts = (facts: object) => Object.assign(new Error("connect"), facts);

/** The error of a refused connection: nothing listens on port 1. */
function refusedBy(host: string): Promise<Error> {
  return new Promise((resolve) => connect({ host, port: 1 }).once("error", resolve));
}

describe("a database that can't be reached", () => {
  it.each(["127.0.0.1", "localhost"])("is reported with its address and without secrets: %s", async (host) => {
    const sentence = databaseUnreachable(await refusedBy(host), `postgresql://ann:hush@${host}:1/x?password=hush`);
    expect(sentence).toBe(`The database at ${host}:1 can't be reached (ECONNREFUSED). Check DATABASE_URL.`);
  });

  it("is reported with the default port, also if the name is unknown or nothing answers", () => {
    const lookup = withFacts({ code: "ENOTFOUND", syscall: "getaddrinfo", hostname: "db.invalid" });
    expect(databaseUnreachable(lookup, "postgresql://db.invalid/x")).toContain(
      "db.invalid:5432 can't be reached (ENOTF",
    );
    const silence = new Error("timeout expired");
    expect(databaseUnreachable(silence, "postgresql://db.invalid/x")).toContain("can't be reached (no answer)");
  });

  it("is not mistaken for another failure", () => {
    const url = "postgresql://127.0.0.1:5432/x";
    const socket = withFacts({ code: "ECONNREFUSED", address: "/run/edge.sock" });
    const other = withFacts({ code: "ECONNREFUSED", address: "127.0.0.1", port: 8081 });
    for (const error of [socket, other, new Error("broken")]) expect(databaseUnreachable(error, url)).toBeNull();
    for (const own of [undefined, "postgresql://postgres@localhost:5432/postgres?host=%2Frun%2Fpostgres"])
      expect(databaseUnreachable(new Error("timeout expired"), own)).toBeNull();
  });
});

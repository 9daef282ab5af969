import { NotAllowed, NotFound, Refused } from "@sitewright/server/app/failures.ts";
import { describe, expect, it } from "vitest";
import { answerToClientError, errorAnswer, HttpFailure } from "./faults.ts";
import { methodsOf } from "./paths.ts";
import { Malformed } from "./reading/malformed.ts";

const http = (statusCode: number) => Object.assign(new Error("secret detail"), { statusCode });

describe("a failure", () => {
  it.each<[string, unknown, number, unknown]>([
    [
      "Malformed",
      new Malformed([{ path: "/a", message: "is required" }]),
      400,
      { errors: [{ path: "/a", message: "is required" }] },
    ],
    ["Refused", new Refused("unknown_region", "No.", { region: "x" }), 400, { code: "unknown_region", region: "x" }],
    ["NotFound", new NotFound(), 404, null],
    ["NotAllowed", new NotAllowed("write"), 403, { code: "scope_missing", needs: "write" }],
    ["HttpFailure", new HttpFailure(429), 429, null],
    ["Fastify's 413", http(413), 413, null],
    ["Fastify's 415", http(415), 415, null],
    [
      "another 4xx of Fastify",
      http(431),
      400,
      { errors: [{ path: "", message: "could not be read as an HTTP request" }] },
    ],
  ])("of the client has its status and data: %s", (_, error, status, data) => {
    const answer = answerToClientError(error);
    expect(answer?.status).toBe(status);
    expect(answer?.body).toEqual({ message: expect.any(String), status, data });
    expect(JSON.stringify(answer)).not.toContain("secret detail");
  });

  it.each([new Error("x"), http(500), http(503), "text", null, undefined, { statusCode: 400 }])(
    "of the server gives null: %#",
    (error) => {
      expect(answerToClientError(error)).toBeNull();
    },
  );

  it("has its own message if a rule refused, and otherwise the contract's message", () => {
    expect(answerToClientError(new Refused("unknown_region", "No such region."))?.body.message).toBe("No such region.");
    expect(errorAnswer(404).body.message).toBe(
      "Could not find data or the user does not have permissions to retrieve it",
    );
  });

  it("keeps the headers of an HttpFailure", () => {
    expect(answerToClientError(new HttpFailure(401, { "www-authenticate": "Bearer" }))?.headers).toEqual({
      "www-authenticate": "Bearer",
    });
  });
});

describe("a path", () => {
  it.each([
    ["/v2/sites", ["GET", "HEAD", "POST"]],
    ["/v2/sites/", ["GET", "HEAD", "POST"]],
    ["/v2/sites/x", ["GET", "HEAD", "DELETE"]],
    ["/v2/sites/x/environments", ["GET", "HEAD", "POST", "PUT"]],
    ["/v2/company/x/api-keys/y", ["DELETE"]],
    ["/", ["GET", "HEAD"]],
    ["/v2/openapi.json", ["GET", "HEAD"]],
    ["/tour.md", ["GET", "HEAD"]],
    ["/reference/1/reference.js", ["GET", "HEAD"]],
    ["/docs", ["GET", "HEAD"]],
    ["/console/index-1.js", ["GET", "HEAD"]],
    ["/reference/1", []],
    ["/v2/openapi", []],
    ["/v2/sitesx", []],
    ["/sites", []],
    ["/v2/sites/x/y", []],
  ])("%s answers to %j", (path, methods) => {
    expect(methodsOf(path)).toEqual(methods);
  });
});

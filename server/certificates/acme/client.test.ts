/** Responses that real authorities send and `pebble` does not. */
import { createHmac, createPrivateKey, createPublicKey, verify } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Authority, startAuthority } from "../testing/authority.ts";
import { type Acme, isUnknownAccount, isUnknownResource, openAcme } from "./client.ts";
import { AcmeProblem, AcmeUnreachable } from "./problems.ts";
import { keyAuthorization, makeKey, signRequest } from "./signing.ts";

let authority: Authority;
let acme: Acme;
const accountKey = makeKey();
const opened = (signal = new AbortController().signal) =>
  openAcme({ directory: `${authority.origin}/dir`, roots: [authority.root], accountKey, signal });
beforeEach(async () => {
  authority = await startAuthority();
  acme = opened();
});
afterEach(async () => {
  await authority[Symbol.asyncDispose]();
});

const refusing = (type: string, status: number, headers: Readonly<Record<string, string>> = {}) => ({
  status,
  headers,
  body: { type: `urn:ietf:params:acme:error:${type}`, detail: `It says ${type}`, status },
});
const at = (path: string) => authority.requests.filter((asked) => asked.path === path);
const order = () => ({
  status: "pending",
  authorizations: [`${authority.origin}/authz/1`],
  finalize: `${authority.origin}/finalize/1`,
});
const failure = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

describe("an account", () => {
  test("is created with the key and the e-mail address, then identified by its URL", async () => {
    authority.respond("/account", { status: 201, headers: { location: `${authority.origin}/account/7` }, body: {} });
    authority.respond("/order", { status: 201, headers: { location: `${authority.origin}/order/1` }, body: order() });
    const account = await acme.openAccount("admin@example.com", null);
    expect(account).toBe(`${authority.origin}/account/7`);
    const [made] = at("/account");
    expect(made?.head).toMatchObject({ alg: "ES256", url: `${authority.origin}/account`, jwk: { kty: "EC" } });
    expect(JSON.parse(made?.payload ?? "")).toEqual({
      termsOfServiceAgreed: true,
      contact: ["mailto:admin@example.com"],
    });
    const made2 = await acme.newOrder(account, ["example.com", "www.example.com"]);
    expect(made2.url).toBe(`${authority.origin}/order/1`);
    const [ordered] = at("/order");
    expect(ordered?.head).toMatchObject({ kid: account });
    expect(ordered?.head).not.toHaveProperty("jwk");
    expect(JSON.parse(ordered?.payload ?? "").identifiers).toEqual([
      { type: "dns", value: "example.com" },
      { type: "dns", value: "www.example.com" },
    ]);
  });

  test("is bound to the authority's customer by an external account key", async () => {
    authority.respond("/account", { status: 201, headers: { location: `${authority.origin}/account/7` }, body: {} });
    const key = Buffer.from("customer key");
    await acme.openAccount(null, { keyId: "customer-7", key });
    const [made] = at("/account");
    const bound = JSON.parse(made?.payload ?? "").externalAccountBinding;
    const read = (text: string) => JSON.parse(Buffer.from(text, "base64url").toString());
    expect(read(bound.protected)).toEqual({ alg: "HS256", kid: "customer-7", url: `${authority.origin}/account` });
    expect(read(bound.payload)).toEqual(made?.head?.jwk);
    const sum = createHmac("sha256", key).update(`${bound.protected}.${bound.payload}`).digest("base64url");
    expect(bound.signature).toBe(sum);
  });

  test("has no contact without an e-mail address, and is invalid without a URL", async () => {
    authority.respond("/account", { status: 201, body: {} });
    expect(await failure(acme.openAccount(null, null))).toBeInstanceOf(AcmeUnreachable);
    expect(JSON.parse(at("/account")[0]?.payload ?? "")).toEqual({ termsOfServiceAgreed: true });
  });
});

describe("a rejected nonce", () => {
  test("is replaced by the nonce in the error response", async () => {
    authority.respond("/order/1", refusing("badNonce", 400), refusing("badNonce", 400), { body: order() });
    expect((await acme.readOrder("kid", `${authority.origin}/order/1`)).value.status).toBe("pending");
    const nonces = at("/order/1").map(({ head }) => head?.nonce);
    expect(new Set(nonces).size).toBe(3);
    expect(at("/nonce")).toHaveLength(1);
  });

  test("fails the request after ten attempts", async () => {
    authority.respond("/order/1", refusing("badNonce", 400));
    expect(await failure(acme.readOrder("kid", `${authority.origin}/order/1`))).toMatchObject({ type: "badNonce" });
    expect(at("/order/1")).toHaveLength(10);
  });
});

describe("an error response", () => {
  test("has a type and a message, and no wait time without Retry-After", async () => {
    authority.respond("/order/1", refusing("unauthorized", 403));
    const error = await failure(acme.readOrder("kid", `${authority.origin}/order/1`));
    expect(error).toBeInstanceOf(AcmeProblem);
    expect(error).toMatchObject({ type: "unauthorized", status: 403, message: "It says unauthorized", isLimit: false });
    expect(error).toMatchObject({ retryAfter: null });
  });

  test.each([
    ["120", 120_000],
    ["0", 0],
    ["soon", null],
  ])("for a rate limit says how long to wait: Retry-After: %s", async (after, retryAfter) => {
    authority.respond("/order/1", refusing("rateLimited", 429, { "retry-after": after }));
    const error = await failure(acme.readOrder("kid", `${authority.origin}/order/1`));
    expect(error).toMatchObject({ isLimit: true, retryAfter });
  });

  test("may give the wait time as a date", async () => {
    const until = new Date(Date.now() + 3_600_000);
    authority.respond("/order/1", refusing("rateLimited", 429, { "retry-after": until.toUTCString() }));
    const error = await failure(acme.readOrder("kid", `${authority.origin}/order/1`));
    if (!(error instanceof AcmeProblem) || error.retryAfter === null)
      throw new Error("Not a rate limit with a wait time");
    expect(error.retryAfter).toBeGreaterThan(3_500_000);
    expect(error.retryAfter).toBeLessThanOrEqual(3_600_000);
  });

  test.each([
    ["HTML", "<html><title>Bad gateway</title>"],
    ["nothing", ""],
    ["a list", "[1]"],
  ])("that is not a problem document still has its status: %s", async (_, body) => {
    authority.respond("/order/1", { status: 502, body });
    const error = await failure(acme.readOrder("kid", `${authority.origin}/order/1`));
    expect(error).toMatchObject({ type: "about:blank", status: 502, message: "status 502" });
  });

  test("has a one-line message of limited length", async () => {
    const detail = `first\r\nsecond\u0000${"x".repeat(9_999)}`;
    authority.respond("/order/1", { status: 400, body: { type: "other", detail } });
    const error = await failure(acme.readOrder("kid", `${authority.origin}/order/1`));
    if (!(error instanceof AcmeProblem)) throw new Error("Not an AcmeProblem");
    expect(error.message).toMatch(/^first second x+$/);
    expect(error.message).toHaveLength(500);
  });

  test("about an unknown order or account is recognised", async () => {
    const problem = (type: string, status: number) => new AcmeProblem({ type, status, detail: "", retryAfter: null });
    expect(isUnknownResource(problem("malformed", 400))).toBe(true);
    expect(isUnknownResource(problem("about:blank", 404))).toBe(true);
    expect(isUnknownResource(problem("unauthorized", 403))).toBe(false);
    expect(isUnknownAccount(problem("accountDoesNotExist", 400))).toBe(true);
    expect(isUnknownAccount(new Error("accountDoesNotExist"))).toBe(false);
  });
});

describe("AcmeUnreachable is thrown", () => {
  test.each([
    ["HTML", "<html>"],
    ["an unknown status", { status: "fine" }],
    ["links without TLS", { status: "pending", authorizations: ["http://127.0.0.1/"], finalize: "https://x/" }],
  ])("for %s with status 200", async (_, body) => {
    authority.respond("/order/1", { body });
    const error = await failure(acme.readOrder("kid", `${authority.origin}/order/1`));
    expect(error).toBeInstanceOf(AcmeUnreachable);
    expect(error).toMatchObject({ message: expect.stringContaining("is not ACME") });
  });

  test("for more than a million bytes", async () => {
    authority.respond("/order/1", { body: "x".repeat(1_000_001) });
    expect(await failure(acme.readOrder("kid", `${authority.origin}/order/1`))).toBeInstanceOf(AcmeUnreachable);
  });

  test("for a host with an untrusted certificate", async () => {
    const untrusting = openAcme({
      directory: `${authority.origin}/dir`,
      roots: null,
      accountKey,
      signal: new AbortController().signal,
    });
    const error = await failure(untrusting.openAccount(null, null));
    expect(error).toBeInstanceOf(AcmeUnreachable);
    expect(authority.requests).toEqual([]);
  });

  test("but not on shutdown: the authority is not to blame", async () => {
    const stopping = new AbortController();
    authority.respond("/order/1", { body: null });
    const asking = failure(opened(stopping.signal).readOrder("kid", `${authority.origin}/order/1`));
    await expect.poll(() => at("/order/1").length).toBe(1);
    stopping.abort();
    expect(await asking).not.toBeInstanceOf(AcmeUnreachable);
  });

  test("for a directory that fails, which is fetched again next time", async () => {
    authority.respond("/dir", { status: 500, body: "no" });
    expect(await failure(acme.openAccount(null, null))).toMatchObject({ status: 500 });
    const links = { newNonce: "/nonce", newAccount: "/account", newOrder: "/order" };
    const whole = Object.entries(links).map(([name, path]) => [name, `${authority.origin}${path}`]);
    authority.respond("/dir", { body: Object.fromEntries(whole) });
    authority.respond("/account", { status: 200, headers: { location: `${authority.origin}/account/7` }, body: {} });
    expect(await acme.openAccount(null, null)).toBe(`${authority.origin}/account/7`);
  });
});

test("signatures verify with the public key, and the key authorization contains its thumbprint", () => {
  const key = createPrivateKey(accountKey);
  const request = { key, account: null, nonce: "n", url: "https://ca.example/x", payload: null };
  const { protected: head, payload, signature } = JSON.parse(signRequest(request));
  expect(payload).toBe("");
  const publicKey = createPublicKey(key);
  const bytes = Buffer.from(signature, "base64url");
  const signed = Buffer.from(`${head}.${payload}`);
  expect(verify("sha256", signed, { key: publicKey, dsaEncoding: "ieee-p1363" }, bytes)).toBe(true);
  expect(keyAuthorization("token", key)).toMatch(/^token\.[A-Za-z0-9_-]{43}$/);
});

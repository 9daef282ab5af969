/** What attackers try at the sign-in, besides guessing: sessions that they have planted, and addresses that they want to confirm. */
import { createHook } from "node:async_hooks";
import { describe, expect, it } from "vitest";
import { cookieOf, ownPage, peopleOf } from "../testing/people.ts";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();
const people = peopleOf(test);

describe("a browser's earlier session", () => {
  it("ends when somebody signs in, and its token is not reused: one that was planted gives no access", async () => {
    const planted = await people.signIn(await people.add());
    const email = await people.add();
    const answer = await people.trySignIn(email, { headers: { ...ownPage, cookie: planted } });
    expect(answer.status).toBe(201);
    expect(cookieOf(answer)).not.toBe(planted);
    expect((await people.call(planted, "GET", "/session")).status).toBe(401);
    expect((await people.call(cookieOf(answer), "GET", "/session")).body.user.email).toBe(email);
  });

  it("ends when somebody accepts an invitation", async () => {
    const { call, company } = test.current;
    const earlier = await people.signIn(await people.add());
    const body = { email: "new@example.com", role: "viewer" };
    const { url } = (await call("POST", `/v2/company/${company.company_id}/invitations`, { body })).body;
    const token = String(url).split("#")[1];
    const accepted = await call("POST", "/v2/invitations/accept", {
      body: { token, full_name: "Grace Hopper", password: "seven purple tractors sing" },
      key: null,
      headers: { ...ownPage, cookie: earlier },
    });
    expect(accepted.status).toBe(201);
    expect((await people.call(earlier, "GET", "/session")).status).toBe(401);
  });

  it("goes on after a sign-in that fails, and without its secret nobody can end it", async () => {
    const email = await people.add();
    const cookie = await people.signIn(email);
    await people.trySignIn(email, { password: "wrong", headers: { ...ownPage, cookie } });
    const guessed = `${cookie.slice(0, -43)}${"A".repeat(43)}`;
    expect((await people.trySignIn(email, { headers: { ...ownPage, cookie: guessed } })).status).toBe(201);
    expect((await people.call(cookie, "GET", "/session")).status).toBe(200);
  });
});

describe("an e-mail address", () => {
  it("can't be confirmed by the time of an answer: the password is hashed once, whether the address exists or not", async () => {
    const hashes: string[] = [];
    const hook = createHook({
      init: (_, type) => {
        if (type === "SCRYPTREQUEST") hashes.push(type);
      },
    });
    const email = await people.add();
    for (const address of [email, "nobody@example.com"]) {
      hook.enable();
      await people.trySignIn(address, { password: "wrong" });
      hook.disable();
      expect(hashes.splice(0)).toEqual(["SCRYPTREQUEST"]);
    }
  });
});

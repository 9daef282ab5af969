import { describe, expect, it } from "vitest";
import { hashPassword, isPassword } from "./passwords.ts";

describe("a password's hash", () => {
  it("has its own salt, states its cost, and does not contain the password", async () => {
    const [one, other] = await Promise.all([hashPassword("secret"), hashPassword("secret")]);
    expect(one).not.toBe(other);
    expect(one).toMatch(/^scrypt\$32768\$8\$1\$[A-Za-z0-9+/=]{24}\$[A-Za-z0-9+/=]{44}$/);
    expect(one).not.toContain("secret");
    expect(await isPassword("secret", one)).toBe(true);
    expect(await isPassword("Secret", one)).toBe(false);
  });

  it("matches the same text in another Unicode form", async () => {
    expect(await isPassword("e\u0301", await hashPassword("\u00e9"))).toBe(true);
  });

  it.each(["", "scrypt", "$$$$$", "scrypt$32768$8$1$$"])("matches nothing if it is malformed: %j", async (hash) => {
    expect(await isPassword("", hash)).toBe(false);
  });
});

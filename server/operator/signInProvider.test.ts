import { expect, it } from "vitest";
import { startProvider } from "../openid/testing/provider.ts";
import { signInProviderFinding } from "./signInProvider.ts";

it("finds nothing without a provider, one that works, one with another secret, and one that does not answer", async () => {
  expect(await signInProviderFinding({ signInProvider: null })).toEqual([]);
  const provider = await startProvider(["http://localhost:8080/sign-in/provider"]);
  const { settings } = provider;
  expect(await signInProviderFinding({ signInProvider: settings })).toEqual([
    { level: "ok", text: "Signing in: Example Login answers, and knows this installation." },
  ]);
  const [wrong] = await signInProviderFinding({ signInProvider: { ...settings, clientSecret: "hush" } });
  expect(wrong?.level).toBe("problem");
  expect(wrong?.text).toContain("Example Login refuses this installation's client id, secret or address, so people");
  expect(wrong?.text).not.toContain("hush");
  await provider[Symbol.asyncDispose]();
  const [down] = await signInProviderFinding({ signInProvider: settings });
  expect(down).toMatchObject({ level: "problem", text: expect.stringContaining("Example Login does not answer, so") });
});

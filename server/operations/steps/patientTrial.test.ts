import { expect, test } from "vitest";
import type { Trial, TrialOrder } from "../../clients/edgeClient.ts";
import { EdgeUnavailable } from "../../clients/edgeClient.ts";
import { patientlySee } from "./patientTrial.ts";
import { makeSeeCandidate } from "./seeCandidate.ts";

const layout = { release: 2, documentRoot: "/x", overlays: {}, multisite: null, wordpressVersion: null };
const candidate = {
  environment: { id: "e", number: 1 },
  phpVersion: "8.4",
  layout,
  address: "https://demo.example",
  what: "The site",
  isReadOnly: true,
};
const { signal } = new AbortController();
const page: Trial = {
  status: 200,
  isWhole: true,
  errors: "",
  reason: null,
  location: null,
  content: { type: "text/html", base64: Buffer.from("Hello").toString("base64") },
};
const silence = (reason: string): Trial => ({ status: 0, isWhole: false, errors: "", reason, location: null });

/** Returns what a browser is shown, and what the edge was asked for. */
function edgeThat(...answers: readonly (Trial | Error)[]) {
  const asked: TrialOrder[] = [];
  const left = [...answers];
  const tryOut = async (order: TrialOrder) => {
    asked.push(order);
    const answer = left.shift() ?? silence("crashed");
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { asked, see: patientlySee(makeSeeCandidate({ tryOut })(candidate), 30) };
}

test("a browser is shown what the edge would send", async () => {
  const { asked, see } = edgeThat(page);
  const seen = { status: 200, reason: null, location: null, type: "text/html", content: Buffer.from("Hello") };
  expect(await see("/shop/?a=b", signal)).toEqual(seen);
  const order = { host: "demo.example", url: "/shop/?a=b", isReadOnly: true, isHttps: true, wantsContent: true };
  expect(asked).toMatchObject([{ ...order, environment: { id: "e", release: 2 } }]);
});

test("what passes by itself is waited for", async () => {
  const { asked, see } = edgeThat(new EdgeUnavailable("It starts"), silence("busy"), silence("busy"), page);
  expect((await see("/", signal)).status).toBe(200);
  expect(asked).toHaveLength(4);
});

test.each(["wouldWrite", "deadline", "crashed", "unavailable"])(
  "an answer that never comes is none: %s",
  async (reason) => {
    const { asked, see } = edgeThat(silence(reason));
    expect(await see("/", signal)).toMatchObject({ status: 0, reason, content: Buffer.of() });
    expect(asked).toHaveLength(1);
  },
);

test("what stays is told at once", async () => {
  await expect(edgeThat(new Error("Not an order")).see("/", signal)).rejects.toThrow("Not an order");
});

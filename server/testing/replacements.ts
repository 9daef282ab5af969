/** Crash test subjects for search and replace: a live site with a post whose title is replaced, and checks. */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { OperationRequest } from "../operations/engine/accept.ts";
import type { Subject } from "../operations/faults/testing/crashHarness.ts";
import type { SearchAndReplaceInput } from "../operations/sites/searchAndReplace.ts";
import { systemActor } from "../store/company/activity.ts";
import { liveSite } from "./sites.ts";
import { settled, takeOverState } from "./takeOver.ts";
import type { World } from "./world.ts";

const change = { search: "Hello world!", replace: "Hello planet!" };

const inputs = new WeakMap<OperationRequest, SearchAndReplaceInput>();

function replacing(kind: "searchAndReplace" | "previewSearchAndReplace"): Subject {
  const isPerformed = kind === "searchAndReplace";
  return {
    kind,
    prepare: async (world) => {
      const { companyId, siteId, environment, address, name } = await liveSite(world);
      const input: SearchAndReplaceInput = { token: randomUUID(), target: environment, address };
      const request: OperationRequest = {
        kind,
        companyId,
        siteId,
        environmentId: environment.id,
        locks: [environment.id],
        input,
        secret: JSON.stringify(change),
        whenBusy: "fail",
        actor: systemActor,
        activityParameters: { siteName: name, environmentName: "Live" },
      };
      inputs.set(request, input);
      return request;
    },
    finished: (world, request) => differences(world, request, isPerformed),
    undone: (world, request) => differences(world, request, false),
  };
}

export const replacingTexts = replacing("searchAndReplace");
export const previewingReplacement = replacing("previewSearchAndReplace");

/** Returns the data prepared for the request. */
export function replacementOf(request: OperationRequest): SearchAndReplaceInput {
  const input = inputs.get(request);
  if (!input) throw new Error("This request was not prepared here");
  return input;
}

async function differences(world: World, request: OperationRequest, isReplaced: boolean): Promise<string[]> {
  const input = replacementOf(request);
  const layout = await world.services.runtime.layout(input.target);
  const file = path.join(layout?.documentRoot ?? "", "../../..", "current", "database", "database.json");
  const text = await readFile(file, "utf8");
  const found = {
    isReplaced: text.includes(change.replace),
    isOld: text.includes(change.search),
    ...(await takeOverState(world, input)),
  };
  const wanted = { isReplaced, isOld: !isReplaced, ...settled(isReplaced ? 1 : 0) };
  return JSON.stringify(found) === JSON.stringify(wanted)
    ? []
    : [`found ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`];
}

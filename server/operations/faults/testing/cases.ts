/** Every failure and every death that an operation must survive, derived from its definition. */
import type { Fault, Point } from "../../../testing/faults.ts";
import type { RunnerFault } from "../../../testing/faultyEngine.ts";
import type { AnyDefinition } from "../../engine/operation.ts";

export interface Case {
  readonly name: string;
  readonly fault: RunnerFault;
  readonly ends: "succeeded" | "failed";
}

/** Returns a case for every point at which the operation may fail, with the state that it must end in. */
export function failureCases(definition: AnyDefinition): Case[] {
  const { revocable, final } = stepsOf(definition);
  const points = (name: string): Point[] => [`${name}:before`, `${name}:after`];
  const lastRevocable = revocable.at(-1);
  return [
    { name: "without failure", fault: {}, ends: "succeeded" },
    ...revocable.flatMap(({ name }) => points(`run ${name}`).map((failAt) => failing(failAt, "failed"))),
    ...final.flatMap(({ name }) =>
      points(`run ${name}`).map((failAt) => ({ ...failing(failAt, "succeeded"), fault: { failAt, failTimes: 3 } })),
    ),
    ...(final.length === 0 && lastRevocable
      ? [failing("succeed:before", "failed"), failing("succeed:after", "failed")]
      : []),
  ];
}

function failing(failAt: Point, ends: Case["ends"]): Case {
  return { name: `fails at ${failAt}`, fault: { failAt }, ends };
}

/** Returns cases in which every step and undo runs twice, as after a crash between the work and its record. */
export function repeatedCases(definition: AnyDefinition): Case[] {
  return [
    { name: "every step runs twice", fault: { isRepeated: true }, ends: "succeeded" },
    {
      name: "every step and every undo runs twice",
      fault: { isRepeated: true, failAt: lastFailure(definition) },
      ends: "failed",
    },
  ];
}

interface Deaths {
  /** Between two steps, or in the transaction that ends the operation. */
  readonly between: Case[];
  /** In the middle of a step or of its undo. */
  readonly duringWork: Case[];
}

/** Returns a case for every point at which the runner may die, on the way forward and back. */
export function deathCases(definition: AnyDefinition): Deaths {
  const failAt = lastFailure(definition);
  const undone = stepsOf(definition).revocable.filter(({ undo }) => undo);
  const die = (killAt: Point, more: Fault, ends: Case["ends"]): Case => ({
    name: `dies at ${killAt}`,
    fault: { ...more, killAt },
    ends,
  });
  const around = (name: string): Point[] => [`${name}:before`, `${name}:after`];
  return {
    between: [
      ...definition.steps.flatMap(({ name }) => around(`run ${name}`).map((at) => die(at, {}, "succeeded"))),
      ...["succeed:before", "succeed:after"].map((at) => die(at, {}, "succeeded")),
      { name: "dies after success", fault: { killAtEnd: true }, ends: "succeeded" },
      ...undone.flatMap(({ name }) => around(`undo ${name}`).map((at) => die(at, { failAt }, "failed"))),
      ...["fail:before", "fail:after"].map((at) => die(at, { failAt }, "failed")),
      { name: "dies after failure", fault: { failAt, killAtEnd: true }, ends: "failed" },
    ],
    duringWork: [
      ...definition.steps.map(({ name }) => die(`run ${name}:in`, {}, "succeeded")),
      ...undone.map(({ name }) => die(`undo ${name}:in`, { failAt }, "failed")),
    ],
  };
}

/** Returns the last point of failure at which everything is still undone. */
function lastFailure(definition: AnyDefinition): Point {
  const last = stepsOf(definition).revocable.at(-1);
  if (last === undefined) throw new Error(`${definition.kind} needs a step before its point of no return.`);
  return `run ${last.name}:after`;
}

function stepsOf({ steps, pointOfNoReturn }: AnyDefinition) {
  const index = pointOfNoReturn ? steps.findIndex(({ name }) => name === pointOfNoReturn) : steps.length;
  return { revocable: steps.slice(0, index), final: steps.slice(index) };
}

/**
 * Groups cases that can share one death, at most `most` in each group. A death at the end of the final transaction is not
 * shared, because the transaction may hold locks that the others need.
 */
export function together(cases: readonly Case[], most: number): (readonly Case[])[] {
  const isAlone = ({ fault: { killAt } }: Case) => killAt === "succeed:after" || killAt === "fail:after";
  const others = cases.filter((each) => !isAlone(each));
  const parts = Math.ceil(others.length / most);
  return [
    ...Array.from({ length: parts }, (_, index) => others.slice(index * most, (index + 1) * most)),
    ...cases.filter(isAlone).map((each) => [each]),
  ];
}

/** Every failure and every death that an operation must survive, from its definition alone. */
import type { Fault, Point } from "../../../testing/faults.ts";
import type { RunnerFault } from "../../../testing/faultyEngine.ts";
import type { AnyDefinition } from "../../engine/operation.ts";

export interface Case {
  readonly name: string;
  readonly fault: RunnerFault;
  readonly ends: "succeeded" | "failed";
}

/** Every point of the definition at which it may fail, and how it must end then. */
export function failureCases(definition: AnyDefinition): Case[] {
  const { revocable, final } = stepsOf(definition);
  const points = (name: string): Point[] => [`${name}:before`, `${name}:after`];
  const lastRevocable = revocable.at(-1);
  return [
    { name: "nothing fails", fault: {}, ends: "succeeded" },
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

/** Every piece of work is done twice, forward and back, as if a crash came between the work and its record. */
export function repeatedCases(definition: AnyDefinition): Case[] {
  return [
    { name: "every step is run twice", fault: { isRepeated: true }, ends: "succeeded" },
    {
      name: "every step is run and undone twice",
      fault: { isRepeated: true, failAt: lastFailure(definition) },
      ends: "failed",
    },
  ];
}

export interface Deaths {
  /** Between two pieces of work, or in the transaction that ends the operation. */
  readonly between: Case[];
  /** In the middle of a step or of its undoing. */
  readonly duringWork: Case[];
}

/** Every point at which the runner may die, on the way forward and on the way back. */
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
      { name: "dies when it has ended well", fault: { killAtEnd: true }, ends: "succeeded" },
      ...undone.flatMap(({ name }) => around(`undo ${name}`).map((at) => die(at, { failAt }, "failed"))),
      ...["fail:before", "fail:after"].map((at) => die(at, { failAt }, "failed")),
      { name: "dies when it has ended badly", fault: { failAt, killAtEnd: true }, ends: "failed" },
    ],
    duringWork: [
      ...definition.steps.map(({ name }) => die(`run ${name}:in`, {}, "succeeded")),
      ...undone.map(({ name }) => die(`undo ${name}:in`, { failAt }, "failed")),
    ],
  };
}

/** A failure that has everything undone that can be. */
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
 * Cases that one death does for, at most `most`. One at the end of the transaction that ends an operation dies alone,
 * because it may hold what the others need.
 */
export function together(cases: readonly Case[], most: number): (readonly Case[])[] {
  const isAlone = ({ fault: { killAt } }: Case) => killAt === "succeed:after" || killAt === "fail:after";
  const others = cases.filter((each) => !isAlone(each));
  const parts = Math.ceil(others.length / most);
  return [
    ...Array.from({ length: parts }, (_, at) => others.slice(at * most, (at + 1) * most)),
    ...cases.filter(isAlone).map((each) => [each]),
  ];
}

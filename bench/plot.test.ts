import { describe, expect, test } from "vitest";
import { drawPlot, type Line } from "./plot.ts";

const draw = (lines: readonly Line[]) => drawPlot({ title: "A < B", xLabel: "sites", yText: (y) => `${y} ms`, lines });
const heights = (svg: string) => [...svg.matchAll(/<circle [^>]*cy="([\d.]+)"/g)].map(([, y]) => Number(y));

describe("a plot", () => {
  test("has an equal distance for each factor of ten", () => {
    const [one = 0, ten = 0, hundred = 0] = heights(
      draw([{ name: "time", points: [1, 10, 100].map((value) => [value, value]) }]),
    );
    expect(one - ten).toBeCloseTo(ten - hundred, 0);
    expect(one).toBeGreaterThan(ten);
  });

  test("has the name and the last value of each line, apart from each other", () => {
    const svg = draw([
      {
        name: "control",
        points: [
          [10, 5],
          [100, 50],
        ],
      },
      {
        name: "edge",
        points: [
          [10, 5],
          [100, 50],
        ],
      },
    ]);
    const labels = [...svg.matchAll(/<text x="530" y="([\d.]+)">(\w+) 50 ms</g)];
    expect(labels.map(([, , name]) => name)).toEqual(["control", "edge"]);
    expect(Math.abs(Number(labels[0]?.[1]) - Number(labels[1]?.[1]))).toBeGreaterThanOrEqual(16);
  });

  test("of constant values has a grid", () => {
    expect(
      heights(
        draw([
          {
            name: "time",
            points: [
              [10, 3],
              [100, 3],
            ],
          },
        ]),
      ).every(Number.isFinite),
    ).toBe(true);
  });

  test("escapes texts", () => {
    expect(draw([{ name: "time", points: [[10, 3]] }])).toContain("A &lt; B");
  });
});

import { Group, Stack, Text } from "@mantine/core";
import { numberText } from "../../numberFormats.ts";

interface FiguresProps {
  readonly of: readonly (readonly [name: string, value: string | number])[];
}

/** Names on the left and values on the right. */
export function Figures({ of }: FiguresProps) {
  return (
    <Stack component="dl" gap={6} m={0}>
      {of.map(([name, value]) => (
        <Group key={name} justify="space-between" wrap="nowrap" gap="md">
          <Text component="dt" size="sm">
            {name}
          </Text>
          <Text component="dd" size="sm" fw={600} m={0} ta="end">
            {typeof value === "number" ? numberText(value) : value}
          </Text>
        </Group>
      ))}
    </Stack>
  );
}

import { Paper, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

interface EmptyStateProps {
  readonly title: string;
  readonly hint?: string;
  /** What to do next. */
  readonly children?: ReactNode;
}

/** In place of an empty list: says so, and what to do next. */
export function EmptyState({ title, hint, children }: EmptyStateProps) {
  return (
    <Paper withBorder p="xl">
      <Stack align="center" gap="sm" ta="center">
        <Title order={2} size="h4">
          {title}
        </Title>
        {hint !== undefined && <Text>{hint}</Text>}
        {children}
      </Stack>
    </Paper>
  );
}

/** The frame of pages before the console itself: a small card in the middle. */
import { Center, Paper, Stack, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";
import { texts } from "../texts.ts";

export function Narrow({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} – ${texts.product}`;
  }, [title]);
  return (
    <Center component="main" mih="100dvh" p="md">
      <Paper withBorder p="xl" w="100%" maw={420} shadow="sm">
        <Stack>
          <Title order={1} size="h3">
            {title}
          </Title>
          {children}
        </Stack>
      </Paper>
    </Center>
  );
}

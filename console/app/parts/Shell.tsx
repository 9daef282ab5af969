/** What surrounds every page for people who have signed in. */
import {
  Alert,
  Anchor,
  AppShell,
  Burger,
  Button,
  Group,
  Text,
  useComputedColorScheme,
  useMantineColorScheme,
} from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Outlet } from "@tanstack/react-router";
import { useConnected } from "../api/connection.ts";
import { useSignedIn } from "../api/session.ts";
import { texts } from "../texts.ts";
import { BulkPanel } from "./BulkPanel.tsx";
import { MenuLink, TextLink } from "./ButtonLink.tsx";
import { LiveUpdates } from "./LiveUpdates.tsx";
import { OperationsPanel } from "./OperationsPanel.tsx";
import { pagesFor } from "./pages.ts";
import { PaletteButton } from "./palette/PaletteButton.tsx";
import { SessionGuard } from "./SessionGuard.tsx";

export function Shell() {
  const [isMenuOpen, { toggle, close }] = useDisclosure();
  const session = useSignedIn();
  const shown = pagesFor(session);
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: "sm", collapsed: { mobile: !isMenuOpen } }}
      padding={{ base: "md", sm: "xl" }}
    >
      <Anchor href="#content" className="skip">
        {texts.skip}
      </Anchor>
      <AppShell.Header>
        <Group h="100%" px="md" gap="sm" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger opened={isMenuOpen} onClick={toggle} hiddenFrom="sm" size="sm" aria-label={texts.menu} />
            <TextLink to="/" fw={700} c="var(--mantine-color-text)">
              {texts.product}
            </TextLink>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <PaletteButton />
            <OperationsPanel />
            <ColorSchemeButton />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label={texts.navigation.label}>
        {shown.map(({ to, label }) => (
          <MenuLink
            key={to}
            to={to}
            label={label}
            onClick={close}
            activeOptions={{ exact: to === "/" }}
            activeProps={{ "data-active": true }}
          />
        ))}
        <Anchor href="/docs" size="sm" mt="auto" px="sm" py="xs" c="var(--mantine-color-text)">
          {texts.navigation.docs}
        </Anchor>
      </AppShell.Navbar>
      <AppShell.Main id="content">
        <ConnectionNote />
        <Outlet />
      </AppShell.Main>
      <BulkPanel />
      <SessionGuard />
      <LiveUpdates />
    </AppShell>
  );
}

function ConnectionNote() {
  if (useConnected()) return null;
  return (
    <Alert color="yellow" role="status" mb="md">
      <Text size="sm">{texts.notConnected}</Text>
    </Alert>
  );
}

function ColorSchemeButton() {
  const { setColorScheme } = useMantineColorScheme();
  const present = useComputedColorScheme("light");
  const other = present === "light" ? "dark" : "light";
  return (
    <Button
      variant="default"
      size="xs"
      px="xs"
      onClick={() => setColorScheme(other)}
      aria-label={texts.colors[other]}
      title={texts.colors[other]}
    >
      {other === "dark" ? "☾" : "☀"}
    </Button>
  );
}

/** Links of the router that look like Mantine's. */
import { Anchor, Button, NavLink } from "@mantine/core";
import { createLink } from "@tanstack/react-router";

export const ButtonLink = createLink(Button<"a">);
export const TextLink = createLink(Anchor<"a">);
export const MenuLink = createLink(NavLink<"a">);

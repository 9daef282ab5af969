<?php
/** What WordPress says of itself: whether it loads, plugins and theme included, and at which address it is. */

require __DIR__ . '/../task.php';
require '/site/wp-load.php';

sitewright_answer(
	[
		'version'   => wp_get_wp_version(),
		'address'   => home_url(),
		'multisite' => is_multisite(),
	]
);

<?php
/**
 * All functions of the layer: the file of each in `functions/`. Those that begin with `mysql_` are for rules; the others
 * have MySQL's names.
 */

return [
	'mysql_bitwise_xor'      => 'arithmetic',
	'mysql_integer_division' => 'arithmetic',
	'mysql_modulo'           => 'arithmetic',
	'quarter'                => 'dates',
];

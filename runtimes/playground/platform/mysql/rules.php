<?php
/**
 * All rules: the class and file of each, and what makes it apply. A statement is offered to a rule if it contains one of
 * these tokens, or a call of one of these functions (in lower case). Rules see a node in the order of this list.
 */
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer;

return [
	[
		'class'     => Integer_Division::class,
		'file'      => 'integerDivision',
		'tokens'    => [ WP_MySQL_Lexer::DIV_SYMBOL ],
		'functions' => [],
	],
];

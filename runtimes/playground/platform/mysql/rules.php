<?php
/**
 * All rules: the class and file of each, and what makes it apply. A statement is offered to a rule if it contains one of
 * these tokens, or a call of one of these functions (in lower case), or begins with one of the tokens in `first`. Rules see
 * a node in the order of this list.
 */
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;

return [
	[
		'class'     => Arithmetic::class,
		'file'      => 'arithmetic',
		'tokens'    => [
			...[ Lexer::DIV_OPERATOR, Lexer::DIV_SYMBOL, Lexer::MOD_OPERATOR, Lexer::MOD_SYMBOL, Lexer::BITWISE_XOR_OPERATOR ],
			...[ Lexer::BITWISE_AND_OPERATOR, Lexer::BITWISE_OR_OPERATOR, Lexer::SHIFT_LEFT_OPERATOR, Lexer::SHIFT_RIGHT_OPERATOR ],
		],
		'functions' => [],
	],
	[
		'class'     => Logic::class,
		'file'      => 'logic',
		'tokens'    => [
			...[ Lexer::LOGICAL_AND_OPERATOR, Lexer::LOGICAL_OR_OPERATOR, Lexer::XOR_SYMBOL, Lexer::LOGICAL_NOT_OPERATOR ],
			...[ Lexer::NOT2_SYMBOL, Lexer::NULL_SAFE_EQUAL_OPERATOR, Lexer::UNKNOWN_SYMBOL ],
		],
		'functions' => [],
	],
	[
		'class'     => Limits::class,
		'file'      => 'limits',
		'tokens'    => [ Lexer::ULONGLONG_NUMBER ],
		'functions' => [],
	],
	[
		'class'     => Queries::class,
		'file'      => 'queries',
		'tokens'    => [
			...[ Lexer::UNION_SYMBOL, Lexer::EXCEPT_SYMBOL, Lexer::INTERSECT_SYMBOL, Lexer::DISTINCT_SYMBOL, Lexer::ALL_SYMBOL ],
			...[ Lexer::STRAIGHT_JOIN_SYMBOL, Lexer::HIGH_PRIORITY_SYMBOL, Lexer::SQL_SMALL_RESULT_SYMBOL, Lexer::SQL_BIG_RESULT_SYMBOL ],
			...[ Lexer::SQL_BUFFER_RESULT_SYMBOL, Lexer::SQL_NO_CACHE_SYMBOL, Lexer::SQL_CACHE_SYMBOL, Lexer::PARTITION_SYMBOL ],
			...[ Lexer::ROW_SYMBOL, Lexer::TABLE_SYMBOL ],
		],
		'first'     => [ Lexer::OPEN_PAR_SYMBOL ],
		'functions' => [],
	],
	[
		'class'     => Conditions::class,
		'file'      => 'conditions',
		'tokens'    => [ Lexer::HAVING_SYMBOL, Lexer::ALL_SYMBOL, Lexer::ANY_SYMBOL, Lexer::SOME_SYMBOL, Lexer::SOUNDS_SYMBOL ],
		'functions' => [],
	],
	[
		'class'     => Bytes::class,
		'file'      => 'bytes',
		'tokens'    => [ Lexer::BIN_NUMBER, Lexer::HEX_NUMBER ],
		'functions' => [ 'length' ],
	],
];

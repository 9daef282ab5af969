<?php
/**
 * All rules: the class and file of each, and what makes it apply. A statement is offered to a rule if it contains one of
 * these tokens, or a call of one of these functions (in lower case), or begins with one of the tokens in `first`, or has
 * one of those in `arguments` right after an opening parenthesis, or names something in the database `schema`; to those with
 * `texts` if `Text_Triggers` says so, and to those with `calls` if it has as many function calls. Rules see a node in the order of this list.
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
			...[ Lexer::UNION_SYMBOL, Lexer::EXCEPT_SYMBOL, Lexer::INTERSECT_SYMBOL, Lexer::ALL_SYMBOL ],
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
	[
		'class'     => Function_Calls::class,
		'file'      => 'functionCalls',
		'tokens'    => [],
		'functions' => [
			...[ 'acos', 'adddate', 'any_value', 'asin', 'atan', 'atan2', 'bin', 'bit_count', 'ceil', 'ceiling', 'char' ],
			...[ 'char_length', 'character_length', 'concat', 'concat_ws', 'conv', 'cos', 'crc32', 'current_date' ],
			...[ 'current_time', 'current_timestamp', 'date', 'date_add', 'date_format', 'date_sub', 'degrees', 'elt', 'exp' ],
			...[ 'export_set', 'extract', 'field', 'find_in_set', 'floor', 'format', 'from_unixtime', 'get_format' ],
			...[ 'greatest', 'hex', 'if', 'inet_aton', 'inet_ntoa', 'insert', 'instr', 'interval', 'isnull', 'json_array' ],
			...[ 'json_array_append', 'json_array_insert', 'json_extract', 'json_insert', 'json_object', 'json_replace' ],
			...[ 'json_set', 'last_insert_id', 'least', 'left', 'ln', 'localtime', 'localtimestamp', 'locate', 'log10' ],
			...[ 'log2', 'lpad', 'make_set', 'md5', 'mod', 'now', 'oct', 'position', 'pow', 'power', 'quote', 'radians' ],
			...[ 'repeat', 'reverse', 'right', 'round', 'row_count', 'rpad', 'sec_to_time', 'sha', 'sha1', 'sha2', 'sign' ],
			...[ 'sin', 'sqrt', 'subdate', 'substring_index', 'tan', 'time', 'timestampadd', 'timestampdiff', 'to_base64' ],
			...[ 'to_seconds', 'truncate', 'unix_timestamp', 'utc_date', 'utc_time', 'utc_timestamp', 'uuid_short' ],
		],
	],
	[
		'class'     => Intervals::class,
		'file'      => 'intervals',
		'tokens'    => [ Lexer::INTERVAL_SYMBOL ],
		'functions' => [],
	],
	[
		'class'     => Trims::class,
		'file'      => 'trims',
		'tokens'    => [ Lexer::BOTH_SYMBOL, Lexer::LEADING_SYMBOL, Lexer::TRAILING_SYMBOL, Lexer::TRIM_SYMBOL ],
		'functions' => [],
	],
	[
		'class'     => Substrings::class,
		'file'      => 'substrings',
		'tokens'    => [ Lexer::SUBSTRING_SYMBOL ],
		'functions' => [],
	],
	[
		'class'     => Casts::class,
		'file'      => 'casts',
		'tokens'    => [ Lexer::CAST_SYMBOL, Lexer::CONVERT_SYMBOL ],
		'functions' => [],
	],
	[
		'class'     => Aggregates::class,
		'file'      => 'aggregates',
		'tokens'    => [
			...[ Lexer::AVG_SYMBOL, Lexer::GROUP_CONCAT_SYMBOL, Lexer::JSON_ARRAYAGG_SYMBOL, Lexer::JSON_OBJECTAGG_SYMBOL ],
		],
		'arguments' => [ Lexer::DISTINCT_SYMBOL ],
		'functions' => [],
	],
	[
		'class'     => Temporal_Literals::class,
		'file'      => 'temporalLiterals',
		'tokens'    => [ Lexer::DATE_SYMBOL, Lexer::TIME_SYMBOL, Lexer::TIMESTAMP_SYMBOL, Lexer::OPEN_CURLY_SYMBOL ],
		'functions' => [],
	],
	[
		'class'     => Regular_Expressions::class,
		'file'      => 'regularExpressions',
		'tokens'    => [ Lexer::REGEXP_SYMBOL ],
		'functions' => [],
	],
	[
		'class'     => Introducers::class,
		'file'      => 'introducers',
		'tokens'    => [ Lexer::UNDERSCORE_CHARSET, Lexer::NCHAR_TEXT ],
		'functions' => [],
	],
	[
		'class'     => Insert_Rows::class,
		'file'      => 'insertRows',
		'tokens'    => [],
		'first'     => [ Lexer::INSERT_SYMBOL, Lexer::REPLACE_SYMBOL ],
		'functions' => [],
	],
	[
		'class'     => Defaults::class,
		'file'      => 'defaults',
		'tokens'    => [ Lexer::DEFAULT_SYMBOL ],
		'functions' => [],
	],
	[
		'class'     => System_Variables::class,
		'file'      => 'systemVariables',
		'tokens'    => [ Lexer::AT_AT_SIGN_SYMBOL ],
		'functions' => [],
	],
	[
		'class'     => Keyword_Names::class,
		'file'      => 'keywordNames',
		'tokens'    => [ Lexer::AUTO_INCREMENT_SYMBOL ],
		'functions' => [],
	],
	[
		'class'     => Information_Schema_Tables::class,
		'file'      => 'serverTables',
		'tokens'    => [],
		'schema'    => 'information_schema',
		'functions' => [],
	],
	[
		'class'     => Rounding::class,
		'file'      => 'rounding',
		'tokens'    => [ Lexer::DIV_OPERATOR, Lexer::DECIMAL_NUMBER, Lexer::FLOAT_NUMBER ],
		'functions' => [],
	],
	[
		'class'     => Decimals::class,
		'file'      => 'decimals',
		'tokens'    => [ Lexer::DIV_OPERATOR, Lexer::AVG_SYMBOL, Lexer::DECIMAL_NUMBER ],
		'functions' => [],
	],
	[
		'class'     => User_Variables::class,
		'file'      => 'userVariables',
		'tokens'    => [ Lexer::AT_SIGN_SYMBOL, Lexer::AT_TEXT_SUFFIX ],
		'functions' => [],
	],
	[
		'class'     => Fulltext::class,
		'file'      => 'fulltext',
		'tokens'    => [ Lexer::MATCH_SYMBOL ],
		'functions' => [],
	],
	[
		'class'     => Collate::class,
		'file'      => 'collate',
		'tokens'    => [ Lexer::COLLATE_SYMBOL ],
		'functions' => [],
	],
	[
		'class'     => Patterns::class,
		'file'      => 'patterns',
		'tokens'    => [],
		'texts'     => true,
		'functions' => [],
	],
	[
		'class'     => Comparisons::class,
		'file'      => 'comparisons',
		'tokens'    => [],
		'texts'     => true,
		'functions' => [],
	],
	[
		'class'     => Sorting::class,
		'file'      => 'sorting',
		'tokens'    => [],
		'texts'     => true,
		'functions' => [],
	],
	[
		'class'     => Nested_Calls::class,
		'file'      => 'nestedCalls',
		'tokens'    => [],
		'calls'     => 6,
		'functions' => [],
	],
	[
		'class'     => Updates::class,
		'file'      => 'updates',
		'tokens'    => [],
		'first'     => [ Lexer::UPDATE_SYMBOL ],
		'functions' => [],
	],
	[
		'class'     => Deleted_Tables::class,
		'file'      => 'deletedTables',
		'tokens'    => [],
		'first'     => [ Lexer::DELETE_SYMBOL ],
		'functions' => [],
	],
	[
		'class'     => Duplicate_Keys::class,
		'file'      => 'duplicateKeys',
		'tokens'    => [ Lexer::DUPLICATE_SYMBOL ],
		'functions' => [],
	],
];

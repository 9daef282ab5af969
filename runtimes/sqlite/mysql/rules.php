<?php
/**
 * All rules, and what makes each apply: one of these tokens in the statement, a call of one of these functions (in lower
 * case), one of the tokens in `first` at its beginning, one of those in `arguments` right after an opening parenthesis, a name
 * in the database `schema`, so many function `calls`, so many tokens (`length`), or, with `texts` and `digits`, what `Text_Triggers`
 * and `Digit_Triggers` say.
 * Rules see a node in the order of this list.
 */
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;

return [
	Date_Numbers::class => [
		'tokens' => [
			...[ Lexer::PLUS_OPERATOR, Lexer::MINUS_OPERATOR, Lexer::DIV_OPERATOR, Lexer::DIV_SYMBOL, Lexer::MOD_OPERATOR, Lexer::MOD_SYMBOL ],
			...[ Lexer::BITWISE_XOR_OPERATOR, Lexer::BITWISE_AND_OPERATOR, Lexer::BITWISE_OR_OPERATOR, Lexer::SHIFT_LEFT_OPERATOR ],
			...[ Lexer::SHIFT_RIGHT_OPERATOR, Lexer::SUM_SYMBOL, Lexer::AVG_SYMBOL, Lexer::CAST_SYMBOL, Lexer::CONVERT_SYMBOL ],
		],
	],
	Arithmetic::class => [
		'tokens' => [
			...[ Lexer::DIV_OPERATOR, Lexer::DIV_SYMBOL, Lexer::MOD_OPERATOR, Lexer::MOD_SYMBOL, Lexer::BITWISE_XOR_OPERATOR ],
			...[ Lexer::BITWISE_AND_OPERATOR, Lexer::BITWISE_OR_OPERATOR, Lexer::SHIFT_LEFT_OPERATOR, Lexer::SHIFT_RIGHT_OPERATOR ],
		],
	],
	Logic::class => [
		'tokens' => [
			...[ Lexer::LOGICAL_AND_OPERATOR, Lexer::LOGICAL_OR_OPERATOR, Lexer::XOR_SYMBOL, Lexer::LOGICAL_NOT_OPERATOR ],
			...[ Lexer::NOT2_SYMBOL, Lexer::NULL_SAFE_EQUAL_OPERATOR, Lexer::UNKNOWN_SYMBOL ],
		],
	],
	Limits::class => [ 'tokens' => [ Lexer::ULONGLONG_NUMBER ] ],
	Queries::class => [
		'tokens' => [
			...[ Lexer::UNION_SYMBOL, Lexer::EXCEPT_SYMBOL, Lexer::INTERSECT_SYMBOL, Lexer::ALL_SYMBOL ],
			...[ Lexer::STRAIGHT_JOIN_SYMBOL, Lexer::HIGH_PRIORITY_SYMBOL, Lexer::SQL_SMALL_RESULT_SYMBOL, Lexer::SQL_BIG_RESULT_SYMBOL ],
			...[ Lexer::SQL_BUFFER_RESULT_SYMBOL, Lexer::SQL_NO_CACHE_SYMBOL, Lexer::SQL_CACHE_SYMBOL, Lexer::PARTITION_SYMBOL ],
			...[ Lexer::ROW_SYMBOL, Lexer::TABLE_SYMBOL, Lexer::EXISTS_SYMBOL ],
		],
		'first' => [ Lexer::OPEN_PAR_SYMBOL ],
	],
	Conditions::class => [
		'tokens' => [ Lexer::HAVING_SYMBOL, Lexer::ALL_SYMBOL, Lexer::ANY_SYMBOL, Lexer::SOME_SYMBOL, Lexer::SOUNDS_SYMBOL ],
	],
	Literals::class => [
		'tokens' => [
			...[ Lexer::BIN_NUMBER, Lexer::HEX_NUMBER, Lexer::UNDERSCORE_CHARSET, Lexer::NCHAR_TEXT ],
			...[ Lexer::DATE_SYMBOL, Lexer::TIME_SYMBOL, Lexer::TIMESTAMP_SYMBOL, Lexer::OPEN_CURLY_SYMBOL ],
		],
	],
	Function_Calls::class => [
		'functions' => [
			...[ 'acos', 'adddate', 'any_value', 'asin', 'atan', 'atan2', 'bin', 'bit_count', 'ceil', 'ceiling', 'char' ],
			...[ 'char_length', 'character_length', 'concat', 'concat_ws', 'conv', 'cos', 'crc32', 'current_date' ],
			...[ 'current_time', 'current_timestamp', 'date', 'date_add', 'date_format', 'date_sub', 'degrees', 'elt', 'exp' ],
			...[ 'export_set', 'extract', 'field', 'find_in_set', 'floor', 'format', 'from_unixtime', 'get_format' ],
			...[ 'greatest', 'hex', 'if', 'inet_aton', 'inet_ntoa', 'insert', 'instr', 'interval', 'isnull', 'json_array' ],
			...[ 'json_array_append', 'json_array_insert', 'json_extract', 'json_insert', 'json_object', 'json_replace' ],
			...[ 'json_set', 'last_insert_id', 'least', 'left', 'length', 'ln', 'localtime', 'localtimestamp', 'locate', 'log10' ],
			...[ 'log2', 'lpad', 'make_set', 'md5', 'mod', 'now', 'oct', 'position', 'pow', 'power', 'quote', 'radians', 'rand' ],
			...[ 'repeat', 'reverse', 'right', 'round', 'row_count', 'rpad', 'sec_to_time', 'sha', 'sha1', 'sha2', 'sign' ],
			...[ 'sin', 'sqrt', 'subdate', 'substring_index', 'tan', 'time', 'timestampadd', 'timestampdiff', 'to_base64' ],
			...[ 'to_seconds', 'truncate', 'unix_timestamp', 'utc_date', 'utc_time', 'utc_timestamp', 'uuid_short' ],
		],
	],
	Intervals::class => [ 'tokens' => [ Lexer::INTERVAL_SYMBOL ] ],
	Trims::class => [ 'tokens' => [ Lexer::BOTH_SYMBOL, Lexer::LEADING_SYMBOL, Lexer::TRAILING_SYMBOL, Lexer::TRIM_SYMBOL ] ],
	Substrings::class => [ 'tokens' => [ Lexer::SUBSTRING_SYMBOL ] ],
	Charsets::class => [ 'tokens' => [ Lexer::CONVERT_SYMBOL ] ],
	Casts::class => [ 'tokens' => [ Lexer::CAST_SYMBOL, Lexer::CONVERT_SYMBOL ] ],
	Aggregates::class => [
		'tokens' => [
			...[ Lexer::AVG_SYMBOL, Lexer::GROUP_CONCAT_SYMBOL, Lexer::JSON_ARRAYAGG_SYMBOL, Lexer::JSON_OBJECTAGG_SYMBOL ],
			...[ Lexer::BIT_AND_SYMBOL, Lexer::BIT_OR_SYMBOL, Lexer::BIT_XOR_SYMBOL ],
		],
		'arguments' => [ Lexer::DISTINCT_SYMBOL ],
	],
	Regular_Expressions::class => [ 'tokens' => [ Lexer::REGEXP_SYMBOL ] ],
	Write_Options::class => [
		'tokens' => [
			...[ Lexer::LOW_PRIORITY_SYMBOL, Lexer::HIGH_PRIORITY_SYMBOL, Lexer::DELAYED_SYMBOL, Lexer::QUICK_SYMBOL, Lexer::IGNORE_SYMBOL ],
		],
	],
	Insert_Rows::class => [ 'first' => [ Lexer::INSERT_SYMBOL, Lexer::REPLACE_SYMBOL ] ],
	Left_Out_Columns::class => [ 'first' => [ Lexer::INSERT_SYMBOL, Lexer::REPLACE_SYMBOL ] ],
	Stored_Values::class => [ 'first' => [ Lexer::INSERT_SYMBOL, Lexer::REPLACE_SYMBOL, Lexer::UPDATE_SYMBOL ] ],
	Defaults::class => [ 'tokens' => [ Lexer::DEFAULT_SYMBOL ] ],
	System_Variables::class => [ 'tokens' => [ Lexer::AT_AT_SIGN_SYMBOL ] ],
	Keyword_Names::class => [ 'tokens' => [ Lexer::AUTO_INCREMENT_SYMBOL ] ],
	Information_Schema_Tables::class => [ 'schema' => 'information_schema' ],
	Rounding::class => [ 'tokens' => [ Lexer::DIV_OPERATOR, Lexer::DECIMAL_NUMBER, Lexer::FLOAT_NUMBER ] ],
	Decimals::class => [
		'tokens' => [ Lexer::DIV_OPERATOR, Lexer::AVG_SYMBOL, Lexer::DECIMAL_NUMBER, Lexer::DECIMAL_SYMBOL ],
		'digits' => true,
	],
	Variable_Order::class => [ 'tokens' => [ Lexer::ASSIGN_OPERATOR ] ],
	User_Variables::class => [ 'tokens' => [ Lexer::AT_SIGN_SYMBOL, Lexer::AT_TEXT_SUFFIX ] ],
	Fulltext::class => [ 'tokens' => [ Lexer::MATCH_SYMBOL ] ],
	Collate::class => [ 'tokens' => [ Lexer::COLLATE_SYMBOL ] ],
	Patterns::class => [ 'texts' => true ],
	Comparisons::class => [ 'texts' => true ],
	Choices::class => [ 'tokens' => [ Lexer::CASE_SYMBOL ], 'functions' => [ 'nullif' ] ],
	Sorting::class => [ 'texts' => true ],
	Nested_Calls::class => [ 'calls' => 6 ],
	Updates::class => [ 'first' => [ Lexer::UPDATE_SYMBOL ] ],
	Deleted_Tables::class => [ 'first' => [ Lexer::DELETE_SYMBOL ] ],
	Duplicate_Keys::class => [ 'tokens' => [ Lexer::DUPLICATE_SYMBOL ] ],
	Long_Conditions::class => [ 'length' => 300 ],
];

<?php
/**
 * All functions of the layer, by file in `functions/`. Names that begin with `mysql_` are for rules; the others have
 * MySQL's names. A method has the name of its function, unless another one is given.
 */

return [
	'casts' => [ 'mysql_clock', 'mysql_datetime', 'mysql_real_text', 'mysql_year', 'time' => 'kept_time' ],
	'charsets' => [ 'mysql_in_charset', 'mysql_reread' ],
	'codes' => [
		...[ 'aes_decrypt', 'aes_encrypt', 'bin_to_uuid', 'compress', 'from_base64', 'inet6_aton', 'inet6_ntoa', 'inet_aton' ],
		...[ 'inet_ntoa', 'is_ipv4', 'is_ipv4_compat', 'is_ipv4_mapped', 'is_ipv6', 'is_uuid', 'md5', 'random_bytes' ],
		...[ 'sha' => 'sha1', 'sha1', 'sha2', 'to_base64', 'uncompress', 'uncompressed_length', 'unhex', 'uuid', 'uuid_short' ],
		...[ 'uuid_to_bin' ],
	],
	'collations' => [ 'mysql_fold', 'mysql_glob_pattern', 'mysql_like' ],
	'dateFormats' => [ 'from_unixtime', 'get_format', 'mysql_date_format', 'str_to_date', 'time_format' ],
	'dates' => [
		...[ 'addtime', 'convert_tz', 'curdate', 'current_timestamp' => 'now', 'curtime', 'datediff', 'day', 'dayname' ],
		...[ 'dayofmonth' => 'day', 'dayofweek', 'dayofyear', 'from_days', 'hour', 'last_day', 'localtime' => 'now' ],
		...[ 'localtimestamp' => 'now', 'makedate', 'maketime', 'microsecond', 'minute', 'month', 'monthname', 'mysql_date' ],
		...[ 'mysql_time', 'mysql_today_at', 'now', 'period_add', 'period_diff', 'quarter', 'sec_to_time', 'second', 'subtime' ],
		...[ 'sysdate' => 'now', 'time_to_sec', 'timediff', 'timestamp', 'to_days', 'to_seconds', 'unix_timestamp' ],
		...[ 'utc_date', 'utc_time', 'utc_timestamp', 'week', 'weekday', 'weekofyear' ],
		...[ 'year', 'yearweek' ],
	],
	'expressions' => [ 'regexp_instr', 'regexp_like', 'regexp_replace', 'regexp_substr' ],
	'fulltext' => [ 'mysql_match' ],
	'intervals' => [ 'mysql_date_add', 'mysql_date_sub', 'mysql_extract', 'mysql_time_add', 'mysql_time_sub', 'mysql_timestamp_diff' ],
	'json' => [
		...[ 'json_array', 'json_array_append', 'json_array_insert', 'json_compact', 'json_contains', 'json_contains_path' ],
		...[ 'json_depth', 'json_exists', 'json_extract', 'json_insert', 'json_keys', 'json_length' ],
		...[ 'json_merge' => 'json_merge_preserve', 'json_merge_patch', 'json_merge_preserve', 'json_object', 'json_overlaps' ],
		...[ 'json_pretty', 'json_query', 'json_quote', 'json_remove', 'json_replace', 'json_search', 'json_set', 'json_type' ],
		...[ 'json_unquote', 'json_valid', 'json_value', 'mysql_join', 'mysql_json', 'mysql_json_scalar' ],
	],
	'locks' => [ 'get_lock', 'is_free_lock', 'is_used_lock', 'release_all_locks', 'release_lock' ],
	'numbers' => [
		...[ 'bin', 'bit_count', 'conv', 'cot', 'crc32', 'interval', 'log', 'mysql_bitwise_xor', 'mysql_format' ],
		...[ 'mysql_greatest', 'mysql_hex', 'mysql_integer_division', 'mysql_least', 'mysql_mod', 'mysql_rand', 'mysql_round' ],
		...[ 'mysql_truncate', 'oct' ],
	],
	'points' => [
		...[ 'astext' => 'st_geomfromtext', 'geomfromtext' => 'st_geomfromtext', 'point' ],
		...[ 'pointfromtext' => 'st_geomfromtext', 'st_astext' => 'st_geomfromtext', 'st_distance', 'st_distance_sphere' ],
		...[ 'st_geomfromtext', 'st_pointfromtext' => 'st_geomfromtext', 'st_x', 'st_y' ],
	],
	'sessions' => [
		...[ 'benchmark', 'charset', 'coercibility', 'collation', 'connection_id', 'current_role' => 'nothing' ],
		...[ 'current_user' => 'user', 'last_insert_id', 'load_file' => 'nothing', 'master_pos_wait' => 'nothing' ],
		...[ 'mysql_count_update', 'name_const', 'session_user' => 'user', 'sleep', 'system_user' => 'user', 'user' ],
	],
	'statistics' => [
		...[ 'bit_and', 'bit_or', 'bit_xor', 'std' => 'stddev_pop', 'stddev' => 'stddev_pop', 'stddev_pop', 'stddev_samp' ],
		...[ 'var_pop', 'var_samp', 'variance' => 'var_pop' ],
	],
	'tables' => [ 'mysql_bits', 'mysql_member', 'mysql_table_figure' ],
	'texts' => [
		...[ 'ascii', 'bit_length', 'elt', 'export_set', 'find_in_set', 'instr', 'lcase' => 'lower', 'locate', 'lower' ],
		...[ 'lpad', 'make_set', 'mid' => 'mysql_substring', 'mysql_char', 'mysql_field', 'mysql_insert', 'mysql_left', 'mysql_right' ],
		...[ 'mysql_substring', 'mysql_trim', 'ord', 'quote', 'repeat', 'reverse', 'rpad', 'soundex', 'space' ],
		...[ 'strcmp', 'substring_index', 'ucase' => 'upper', 'upper' ],
	],
	'variables' => [ 'mysql_assign', 'mysql_variable' ],
];

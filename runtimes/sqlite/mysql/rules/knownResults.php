<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_Parser_Node;

/** What can be told about an expression's value before it is evaluated. */
final class Known_Results {
	private const LITERALS = [ Lexer::SINGLE_QUOTED_TEXT, Lexer::DOUBLE_QUOTED_TEXT, Lexer::NULL_SYMBOL ];

	/** Functions that return texts, or integers of less than 32 bits. */
	private const SHORT = [
		...[ "(''", 'ascii(', 'char_length(', 'concat_ws(', 'convert_tz(', 'curdate(', 'curtime(', 'dayname(', 'dayofmonth(', 'dayofweek(' ],
		...[ 'dayofyear(', 'elt(', 'find_in_set(', 'from_base64(', 'from_unixtime(', 'group_concat(', 'hour(', 'inet6_aton(' ],
		...[ 'inet6_ntoa(', 'inet_ntoa(', 'instr(', 'json_array(', 'json_keys(', 'json_object(', 'json_quote(', 'json_unquote(' ],
		...[ 'last_day(', 'lcase(', 'length(', 'locate(', 'lower(', 'lpad(', 'ltrim(', 'make_set(', 'md5(', 'minute(', 'month(' ],
		...[ 'monthname(', 'mysql_char(', 'mysql_clock(', 'mysql_date(', 'mysql_date_add(', 'mysql_date_format(', 'mysql_date_sub(' ],
		...[ 'mysql_datetime(', 'mysql_field(', 'mysql_format(', 'mysql_hex(', 'mysql_insert(', 'mysql_join(', 'mysql_left(', 'mysql_right(' ],
		...[ 'mysql_real_text(', 'mysql_substring(', 'mysql_time(', 'mysql_time_add(', 'mysql_time_sub(', 'mysql_today_at(' ],
		...[ 'mysql_trim(', 'now(', 'octet_length(', 'quarter(', 'quote(' ],
		...[ 'regexp_like(', 'regexp_replace(', 'regexp_substr(', 'repeat(', 'replace(', 'reverse(', 'rpad(', 'rtrim(' ],
		...[ 'sec_to_time(', 'second(', 'sha1(', 'sha2(', 'sha(', 'soundex(', 'space(', 'str_to_date(', 'strcmp(', 'substr(' ],
		...[ 'substring_index(', 'time_format(', 'timediff(', 'to_base64(', 'to_days(', 'trim(', 'ucase(', 'unhex(', 'upper(', 'uuid(' ],
		...[ 'week(', 'weekday(', 'year(', 'yearweek(' ],
	];

	/** An expression of more tokens than this is never repeated: one within another would grow without limit. */
	private const MOST_TOKENS = 60;

	/** Whether an expression may be repeated in the statement. */
	public static function is_repeatable( WP_Parser_Node $node ): bool {
		return count( $node->get_descendant_tokens() ) <= self::MOST_TOKENS;
	}

	/** Whether it is a text, an integer of less than 32 bits, or NULL. */
	public static function is_short( WP_Parser_Node $node ): bool {
		// Pieces of rewritten nodes may be empty.
		$tokens = array_values( array_filter( $node->get_descendant_tokens(), static fn ( $token ) => '' !== $token->get_bytes() ) );
		if ( 1 === count( $tokens ) ) {
			return in_array( $tokens[0]->id, self::LITERALS, true ) || ( Lexer::INT_NUMBER === $tokens[0]->id && $tokens[0]->length < 10 );
		}
		return self::is_short_call( array_map(
			static fn ( $token ) => in_array( $token->id, self::LITERALS, true ) ? "''" : trim( $token->get_bytes() ),
			$tokens
		) );
	}

	/** @param string[] $code Tokens, texts replaced by empty ones. */
	private static function is_short_call( array $code ): bool {
		$name = strtolower( $code[0] . ( '(' === ( $code[1] ?? '' ) ? '(' : '' ) );
		if ( ! in_array( $name, self::SHORT, true ) ) {
			return false;
		}
		// All of it must be within the parentheses of the call.
		$depth = 0;
		$last  = count( $code ) - 1;
		foreach ( $code as $at => $text ) {
			$depth += substr_count( $text, '(' ) - substr_count( $text, ')' );
			if ( 0 === $depth && $at > 0 && $at < $last ) {
				return false;
			}
		}
		return 0 === $depth;
	}
}

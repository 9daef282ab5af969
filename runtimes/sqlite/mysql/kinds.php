<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/** Finds out what kind of value an expression has, as far as the statement and its tables tell. */
final class Kinds {
	public const UNKNOWN = 0;

	private const TEXT_FUNCTIONS = [
		...[ 'concat', 'concat_ws', 'lcase', 'lower', 'ltrim', 'lpad', 'mid', 'rpad', 'rtrim', 'substr', 'substring_index', 'trim', 'ucase' ],
		...[ 'upper', 'json_unquote', 'elt', 'space', 'quote', 'make_set', 'export_set', 'left', 'right', 'replace', 'repeat', 'reverse' ],
		...[ 'insert', 'char', 'format', 'user', 'database', 'substring', 'group_concat' ],
	];
	/** Functions whose texts have no letters beyond ASCII. */
	private const PLAIN_FUNCTIONS = [ 'date_format', 'hex', 'md5', 'sha', 'sha1', 'sha2', 'bin', 'oct', 'conv', 'dayname', 'monthname', 'uuid' ];
	private const NUMBER_FUNCTIONS = [
		...[ 'abs', 'ceil', 'ceiling', 'char_length', 'character_length', 'datediff', 'dayofmonth', 'dayofweek', 'dayofyear', 'field' ],
		...[ 'find_in_set', 'floor', 'instr', 'length', 'locate', 'octet_length', 'ord', 'pow', 'power', 'rand', 'round', 'sign', 'sqrt' ],
		...[ 'ascii', 'day', 'hour', 'microsecond', 'minute', 'mod', 'month', 'position', 'quarter', 'second', 'truncate', 'week', 'year' ],
		...[ 'to_days', 'unix_timestamp', 'weekday', 'yearweek', 'weekofyear', 'crc32', 'time_to_sec', 'period_diff', 'bit_count' ],
	];
	/** Keywords of functions that have texts as results. */
	private const TEXT_KEYWORDS = [
		...[ Lexer::LEFT_SYMBOL, Lexer::RIGHT_SYMBOL, Lexer::REPLACE_SYMBOL, Lexer::REPEAT_SYMBOL, Lexer::REVERSE_SYMBOL, Lexer::INSERT_SYMBOL ],
		...[ Lexer::CHAR_SYMBOL, Lexer::FORMAT_SYMBOL, Lexer::USER_SYMBOL, Lexer::DATABASE_SYMBOL ],
	];
	private const NUMBER_KEYWORDS = [
		...[ Lexer::DAY_SYMBOL, Lexer::HOUR_SYMBOL, Lexer::MINUTE_SYMBOL, Lexer::MONTH_SYMBOL, Lexer::SECOND_SYMBOL, Lexer::YEAR_SYMBOL ],
		...[ Lexer::QUARTER_SYMBOL, Lexer::WEEK_SYMBOL, Lexer::MOD_SYMBOL, Lexer::TRUNCATE_SYMBOL, Lexer::EXTRACT_SYMBOL, Lexer::ASCII_SYMBOL ],
		...[ Lexer::POSITION_SYMBOL, Lexer::TIMESTAMP_DIFF_SYMBOL, Lexer::MICROSECOND_SYMBOL ],
	];

	/** Functions whose results are dates or times, whatever their arguments are. */
	private const TIME_FUNCTIONS = [
		...[ 'current_timestamp', 'date', 'from_days', 'last_day', 'localtime', 'localtimestamp', 'makedate', 'now', 'str_to_date', 'timestamp' ],
	];
	private const TIME_KEYWORDS = [
		...[ Lexer::CURDATE_SYMBOL, Lexer::CURTIME_SYMBOL, Lexer::DATE_SYMBOL, Lexer::NOW_SYMBOL, Lexer::SYSDATE_SYMBOL ],
		...[ Lexer::TIMESTAMP_SYMBOL, Lexer::UTC_DATE_SYMBOL, Lexer::UTC_TIME_SYMBOL, Lexer::UTC_TIMESTAMP_SYMBOL ],
	];
	/** Functions that add an interval to a date: the result is a date if the first argument is, else a text. */
	private const MOVING_KEYWORDS = [
		...[ Lexer::ADDDATE_SYMBOL, Lexer::DATE_ADD_SYMBOL, Lexer::DATE_SUB_SYMBOL, Lexer::SUBDATE_SYMBOL ],
	];
	/** Functions and keywords of functions whose results are times without a date. */
	private const CLOCK_FUNCTIONS = [ 'current_time', 'maketime', 'sec_to_time', 'time', 'timediff', 'utc_time' ];
	private const CLOCK_KEYWORDS  = [ Lexer::CURTIME_SYMBOL, Lexer::UTC_TIME_SYMBOL ];
	private const TIME_TYPES = [ Lexer::DATE_SYMBOL, Lexer::DATETIME_SYMBOL, Lexer::TIME_SYMBOL ];

	private Scope $scope;
	private Rewriting $rewriting;

	public function __construct( Scope $scope, Rewriting $rewriting ) {
		$this->scope     = $scope;
		$this->rewriting = $rewriting;
	}

	/** Returns the only thing in a node, without the nodes and parentheses around it. */
	public function core( WP_Parser_Node $node ): WP_Parser_Node {
		$node     = $this->rewriting->original( $node );
		$children = $node->get_children();
		if ( 3 === count( $children ) && $children[0] instanceof WP_MySQL_Token && Lexer::OPEN_PAR_SYMBOL === $children[0]->id && $children[1] instanceof WP_Parser_Node && 'exprList' === $children[1]->rule_name ) {
			return $this->core( $children[1] );
		}
		if ( 1 !== count( $children ) || ! $children[0] instanceof WP_Parser_Node || 'columnRef' === $node->rule_name || 'textLiteral' === $node->rule_name ) {
			return $node;
		}
		return $this->core( $children[0] );
	}

	/** The column that an expression consists of, or null. */
	public function column( WP_Parser_Node $node ): ?Column {
		$core = $this->core( $node );
		return 'columnRef' === $core->rule_name ? $this->scope->column( $core, $this->rewriting->queries ) : null;
	}

	/** The column of a table that a name means, with all that is known about it, or null. */
	public function table_column( WP_Parser_Node $column_ref ): ?Column {
		return $this->scope->table_column( $column_ref, $this->rewriting->queries );
	}

	/**
	 * The column of a table that an expression consists of, or null. A name alone is not enough: a query in the place of a table
	 * may have a result of another kind under it.
	 */
	public function compared_column( WP_Parser_Node $node ): ?Column {
		$core = $this->core( $node );
		return 'columnRef' === $core->rule_name ? $this->table_column( $core ) : null;
	}

	/** The text of an expression that is a literal text, or null. */
	public function text( WP_Parser_Node $node ): ?string {
		$core = $this->core( $node );
		if ( 'textLiteral' !== $core->rule_name ) {
			return null;
		}
		$tokens = $core->get_descendant_tokens();
		return 1 === count( $tokens ) ? $tokens[0]->get_value() : null;
	}

	/** Whether letters beyond ASCII can't occur in it. */
	public function is_plain( WP_Parser_Node $node ): bool {
		return in_array( $this->function_name( $this->core( $node ) ), self::PLAIN_FUNCTIONS, true );
	}

	/** Whether it is certainly a date or a time, also if it is the result of a function. */
	public function is_time( WP_Parser_Node $node ): bool {
		$core    = $this->core( $node );
		$keyword = $core->get_first_descendant_token()?->id;
		switch ( $core->rule_name ) {
			case 'functionCall':
				return $this->has_time_as_result( $core );
			case 'runtimeFunctionCall':
				$moved = in_array( $keyword, self::MOVING_KEYWORDS, true ) ? $core->get_first_child_node( 'expr' ) : null;
				return in_array( $keyword, self::TIME_KEYWORDS, true ) || ( null === $moved ? Columns::TIME === $this->of( $core ) : $this->is_time( $moved ) );
			case 'simpleExprBody':
				$type = $core->get_first_child_node( 'castType' )?->get_first_descendant_token()->id;
				return in_array( $type, self::TIME_TYPES, true ) || Columns::TIME === $this->of( $core );
			default:
				return Columns::TIME === $this->of( $core );
		}
	}

	private function has_time_as_result( WP_Parser_Node $call ): bool {
		$name      = $this->function_name( $call );
		$arguments = ( $call->get_child_nodes()[1] ?? null )?->get_child_nodes() ?? [];
		return in_array( $name, self::TIME_FUNCTIONS, true )
			|| ( 'from_unixtime' === $name && 1 === count( $arguments ) )
			|| Columns::TIME === $this->of( $call );
	}

	/** Whether it is certainly a time without a date: a time of day, or a duration. */
	public function is_clock( WP_Parser_Node $node ): bool {
		$core    = $this->core( $node );
		$keyword = $core->get_first_descendant_token()?->id;
		switch ( $core->rule_name ) {
			case 'columnRef':
				// CURRENT_TIME without parentheses looks like a name.
				$bytes = implode( '', array_map( static fn ( $token ) => $token->get_bytes(), $core->get_descendant_tokens() ) );
				return Columns::CLOCK === $this->scope->column( $core, $this->rewriting->queries )?->time || in_array( strtolower( $bytes ), [ 'current_time', 'utc_time' ], true );
			case 'bitExpr':
				return $core->has_child_token( Lexer::INTERVAL_SYMBOL ) && $this->is_clock_node( $core->get_first_child_node() );
			case 'sumExpr':
				return in_array( $keyword, [ Lexer::MIN_SYMBOL, Lexer::MAX_SYMBOL ], true ) && $this->is_clock_node( $core->get_first_child_node( 'inSumExpr' ) );
			case 'functionCall':
				$name     = $this->function_name( $core );
				$argument = in_array( $name, [ 'addtime', 'subtime' ], true ) ? $core->get_first_descendant_node( 'udfExpr' ) : null;
				return in_array( $name, self::CLOCK_FUNCTIONS, true ) || $this->is_clock_node( $argument );
			case 'runtimeFunctionCall':
				$moved = in_array( $keyword, self::MOVING_KEYWORDS, true ) ? $core->get_first_child_node( 'expr' ) : null;
				return in_array( $keyword, self::CLOCK_KEYWORDS, true ) || $this->is_clock_node( $moved );
			case 'simpleExprBody':
				return Lexer::TIME_SYMBOL === $core->get_first_child_node( 'castType' )?->get_first_descendant_token()->id;
			default:
				return false;
		}
	}

	private function is_clock_node( ?WP_Parser_Node $node ): bool {
		return null !== $node && $this->is_clock( $node );
	}

	/** Returns one of the kinds of columns, or `UNKNOWN`. */
	public function of( WP_Parser_Node $node ): int {
		$core = $this->core( $node );
		switch ( $core->rule_name ) {
			case 'columnRef':
				return $this->scope->column( $core, $this->rewriting->queries )->kind ?? self::UNKNOWN;
			case 'textLiteral':
				return Columns::TEXT;
			case 'numLiteral':
			case 'boolLiteral':
			case 'boolPri':
			case 'predicate':
			case 'expr':
				return Columns::NUMBER;
			case 'bitExpr':
				return $core->has_child_token( Lexer::INTERVAL_SYMBOL ) ? Columns::TIME : Columns::NUMBER;
			case 'sumExpr':
				return $this->of_aggregate( $core );
			case 'functionCall':
				return $this->of_function( $core );
			case 'trimFunction':
			case 'substringFunction':
				return Columns::TEXT;
			case 'runtimeFunctionCall':
				return $this->of_keyword( $core );
			case 'simpleExprBody':
				return $this->of_body( $core );
			case 'simpleExpr':
				return $core->has_child_token( Lexer::COLLATE_SYMBOL ) ? self::UNKNOWN : Columns::TEXT;
			default:
				return self::UNKNOWN;
		}
	}

	private function of_aggregate( WP_Parser_Node $node ): int {
		$keyword = $node->get_first_child();
		if ( ! $keyword instanceof WP_MySQL_Token ) {
			return self::UNKNOWN;
		}
		switch ( $keyword->id ) {
			case Lexer::GROUP_CONCAT_SYMBOL:
				return Columns::TEXT;
			case Lexer::MIN_SYMBOL:
			case Lexer::MAX_SYMBOL:
				return $this->of( $node->get_first_child_node( 'inSumExpr' ) );
			default:
				return Columns::NUMBER;
		}
	}

	private function of_function( WP_Parser_Node $node ): int {
		$name = $this->function_name( $node );
		if ( in_array( $name, self::TEXT_FUNCTIONS, true ) || in_array( $name, self::PLAIN_FUNCTIONS, true ) ) {
			return Columns::TEXT;
		}
		$arguments = ( $node->get_child_nodes()[1] ?? null )?->get_child_nodes() ?? [];
		switch ( $name ) {
			case 'nullif':
				return $this->common( array_slice( $arguments, 0, 1 ) );
			case 'ifnull':
			case 'coalesce':
				return $this->common( $arguments );
			case 'if':
				return $this->common( array_slice( $arguments, 1 ) );
		}
		return in_array( $name, self::NUMBER_FUNCTIONS, true ) ? Columns::NUMBER : self::UNKNOWN;
	}

	private function function_name( WP_Parser_Node $node ): string {
		return 'functionCall' === $node->rule_name ? strtolower( $node->get_first_descendant_token()->get_value() ) : '';
	}

	private function of_keyword( WP_Parser_Node $node ): int {
		$keyword = $node->get_first_child();
		if ( $keyword instanceof WP_Parser_Node ) {
			return $this->of( $keyword );
		}
		if ( Lexer::IF_SYMBOL === $keyword->id ) {
			return $this->common( array_slice( $node->get_child_nodes( 'expr' ), 1 ) );
		}
		if ( Lexer::COALESCE_SYMBOL === $keyword->id ) {
			return $this->common( $node->get_first_descendant_node( 'exprList' )->get_child_nodes() );
		}
		if ( in_array( $keyword->id, self::TEXT_KEYWORDS, true ) ) {
			return Columns::TEXT;
		}
		return in_array( $keyword->id, self::NUMBER_KEYWORDS, true ) ? Columns::NUMBER : self::UNKNOWN;
	}

	private function of_body( WP_Parser_Node $node ): int {
		$first = $node->get_first_child();
		$id    = $first instanceof WP_MySQL_Token ? $first->id : null;
		if ( Lexer::MINUS_OPERATOR === $id || Lexer::PLUS_OPERATOR === $id || Lexer::BITWISE_NOT_OPERATOR === $id ) {
			return Columns::NUMBER;
		}
		if ( Lexer::CASE_SYMBOL === $id ) {
			$results = array_map( static fn ( $then ) => $then->get_first_child_node(), $node->get_child_nodes( 'thenExpression' ) );
			$else    = $node->get_first_child_node( 'elseExpression' );
			return $this->common( null === $else ? $results : [ ...$results, $else->get_first_child_node() ] );
		}
		$type = $node->get_first_child_node( 'castType' );
		switch ( $type?->get_first_descendant_token()->id ) {
			case Lexer::SIGNED_SYMBOL:
			case Lexer::UNSIGNED_SYMBOL:
			case Lexer::DECIMAL_SYMBOL:
			case Lexer::FLOAT_SYMBOL:
			case Lexer::DOUBLE_SYMBOL:
				return Columns::NUMBER;
			case Lexer::CHAR_SYMBOL:
				return Columns::TEXT;
			case Lexer::BINARY_SYMBOL:
				return Columns::BINARY;
			default:
				return Lexer::BINARY_SYMBOL === $id ? Columns::BINARY : self::UNKNOWN;
		}
	}

	/** The kind that all have; that of texts if some are numbers. @param WP_Parser_Node[] $nodes */
	private function common( array $nodes ): int {
		$kinds = [];
		foreach ( $nodes as $node ) {
			if ( 'nullLiteral' !== $this->core( $node )->rule_name ) {
				$kinds[ $this->of( $node ) ] = true;
			}
		}
		$kinds = array_keys( $kinds );
		if ( 1 === count( $kinds ) ) {
			return $kinds[0];
		}
		sort( $kinds );
		return [ Columns::NUMBER, Columns::TEXT ] === $kinds ? Columns::TEXT : self::UNKNOWN;
	}
}

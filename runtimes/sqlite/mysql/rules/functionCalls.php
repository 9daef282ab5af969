<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_Parser_Node;

/**
 * Calls of functions that the driver, or SQLite, takes for something else than MySQL does. MySQL's grammar knows some of
 * them by a keyword and others by a name; most can be both.
 */
final class Function_Calls implements Rule {
	/** Other names, for functions whose arguments stay as they are. */
	private const OTHERS = [
		'char'             => 'mysql_char',
		'character_length' => 'length',
		'char_length'      => 'length',
		'current_date'     => 'curdate',
		'current_time'     => 'curtime',
		'date'             => 'mysql_date',
		'date_format'      => 'mysql_date_format',
		'field'            => 'mysql_field',
		'format'           => 'mysql_format',
		'if'               => 'iif',
		'insert'           => 'mysql_insert',
		'left'             => 'mysql_left',
		'length'           => 'octet_length',
		'mod'              => 'mysql_mod',
		'position'         => 'locate',
		'right'            => 'mysql_right',
		'time'             => 'mysql_time',
		'truncate'         => 'mysql_truncate',
	];

	/** SQLite has these, but gives NULL for texts that are no numbers. */
	private const NUMERIC = [
		...[ 'acos', 'asin', 'atan', 'atan2', 'ceil', 'ceiling', 'cos', 'degrees', 'exp', 'floor', 'ln', 'log10', 'log2', 'pow', 'power' ],
		...[ 'radians', 'sign', 'sin', 'sqrt', 'tan' ],
	];

	/** How many arguments a call needs. With fewer, it is left alone, and SQLite reports it. */
	private const FEWEST_ARGUMENTS = [
		'adddate'       => 2,
		'any_value'     => 1,
		'extract'       => 2,
		'get_format'    => 2,
		'greatest'      => 2,
		'hex'           => 1,
		'isnull'        => 1,
		'least'         => 2,
		'length'        => 1,
		'round'         => 1,
		'subdate'       => 2,
		'timestampadd'  => 3,
		'timestampdiff' => 3,
	];

	public function nodes(): array {
		return [ 'functionCall', 'runtimeFunctionCall', 'columnRef' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		if ( 'columnRef' === $node->rule_name ) {
			return $this->without_parentheses( $node, $rewriting );
		}
		$first = $node->get_first_child();
		// Nodes have been rewritten already.
		if ( null === $first || ( $first instanceof WP_Parser_Node && 'functionCall' !== $node->rule_name ) ) {
			return null;
		}
		$name      = strtolower( $first instanceof WP_Parser_Node ? $first->get_first_descendant_token()->get_value() : $first->get_value() );
		$arguments = $this->arguments( array_slice( $node->get_children(), 1 ) );
		return count( $arguments ) < ( self::FEWEST_ARGUMENTS[ $name ] ?? 0 ) ? null : $this->call( $name, $arguments, $node, $rewriting );
	}

	/** @param WP_Parser_Node[] $arguments */
	private function call( string $name, array $arguments, WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		switch ( $name ) {
			case 'any_value':
				// Without groups, it makes one of all rows.
				$is_grouped = $rewriting->nearest( 'querySpecification' )?->has_child_node( 'groupByClause' ) ?? false;
				return $rewriting->sequence( [ $is_grouped ? '(' : 'max(', ...$arguments, ')' ], $node );
			case 'json_extract':
				return $this->is_compared( $rewriting ) ? $rewriting->call( 'mysql_json_scalar', $arguments, $node ) : null;
			case 'utc_date':
			case 'utc_time':
			case 'utc_timestamp':
				return $rewriting->call( $name, $arguments, $node );
			case 'row_count':
				return $rewriting->call( 'changes', [], $node );
			case 'concat':
				return Text_Forms::joined( $arguments, $node, $rewriting );
			case 'concat_ws':
				return $rewriting->call( 'concat_ws', array_map( static fn ( $argument ) => Text_Forms::of( $argument, $rewriting ), $arguments ), $node );
			case 'isnull':
				return $rewriting->sequence( [ '((', ...$arguments, ') IS NULL)' ], $node );
			case 'extract':
				return Large_Numbers::call( $rewriting, 'mysql_extract', [ Unit::text( $arguments[0] ), $arguments[1] ], $node );
			case 'get_format':
				return $rewriting->call( 'get_format', [ Unit::text( $arguments[0] ), $arguments[1] ], $node );
			case 'timestampadd':
				return Intervals::moved( 'add', [ $arguments[2], $arguments[1], Unit::text( $arguments[0] ) ], $node, $rewriting );
			case 'timestampdiff':
				$moments = array_map( static fn ( $argument ) => self::moment( $argument, $rewriting ), [ $arguments[1], $arguments[2] ] );
				return Large_Numbers::call( $rewriting, 'mysql_timestamp_diff', [ Unit::text( $arguments[0] ), ...$moments ], $node );
			case 'date_format':
				$moments = array_map( static fn ( $argument ) => self::moment( $argument, $rewriting ), array_slice( $arguments, 0, 1 ) );
				return $this->renamed( $name, [ ...$moments, ...array_slice( $arguments, 1 ) ], $node, $rewriting );
			case 'date_add':
			case 'adddate':
				return $this->shift( 'add', $arguments, $node, $rewriting );
			case 'date_sub':
			case 'subdate':
				return $this->shift( 'sub', $arguments, $node, $rewriting );
			case 'greatest':
			case 'least':
				return $this->outermost( $name, $arguments, $node, $rewriting );
			case 'hex':
				return $this->hex( $arguments, $node, $rewriting );
			case 'round':
				return $this->round( $arguments, $node, $rewriting );
			case 'now':
			case 'current_timestamp':
			case 'localtime':
			case 'localtimestamp':
				// The driver's own is faster, but knows neither fractions nor time zones.
				return [] === $arguments && 0 === $rewriting->driver->variables()->offset() ? null : $rewriting->call( 'now', $arguments, $node );
			case 'rand':
				return [] === $arguments ? null : $rewriting->call( 'mysql_rand', [ $arguments[0], ...$this->place_of_sequence( $arguments[0], $node ) ], $node );
			default:
				return in_array( $name, self::NUMERIC, true )
					? $this->numeric( $name, $arguments, $node, $rewriting )
					: $this->renamed( $name, Json_Parts::marked( $name, $arguments, $rewriting ), $node, $rewriting );
		}
	}

	/** RAND with a literal is a sequence of its own; with a column, the same number for the same value. */
	private function place_of_sequence( WP_Parser_Node $seed, WP_Parser_Node $node ): array {
		return null === $seed->get_first_descendant_node( 'columnRef' ) ? [ (string) $node->get_start() ] : [];
	}

	private function renamed( string $name, array $arguments, WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$function = self::OTHERS[ $name ] ?? $name;
		if ( $function === $name && ! Large_Numbers::concerns( $name ) && ! Json_Parts::concerns( $name ) ) {
			return null;
		}
		return Large_Numbers::call( $rewriting, $function, $arguments, $node );
	}

	/** @param WP_Parser_Node[] $arguments */
	private function numeric( string $name, array $arguments, WP_Parser_Node $node, Rewriting $rewriting ): WP_Parser_Node {
		$numbers = array_map( static fn ( $argument ) => $rewriting->sequence( [ '((', $argument, ') + 0)' ], $argument ), $arguments );
		return $rewriting->call( 'atan' === $name && 2 === count( $numbers ) ? 'atan2' : $name, $numbers, $node );
	}

	/** `CURRENT_DATE` and its like. A column of this name is in quotes, or belongs to a table. */
	private function without_parentheses( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$tokens = $node->get_descendant_tokens();
		if ( 1 !== count( $tokens ) ) {
			return null;
		}
		$name = strtolower( $tokens[0]->get_bytes() );
		return in_array( $name, [ 'current_date', 'current_time', 'utc_date', 'utc_time', 'utc_timestamp' ], true )
			? $rewriting->call( self::OTHERS[ $name ] ?? $name, [], $node )
			: null;
	}

	/** @return WP_Parser_Node[] The arguments, without the lists and parentheses around them. */
	private function arguments( array $children ): array {
		$arguments = [];
		foreach ( $children as $child ) {
			if ( ! $child instanceof WP_Parser_Node || 'charsetName' === $child->rule_name || 'parentheses' === $child->rule_name ) {
				continue;
			}
			$is_list = in_array( $child->rule_name, [ 'udfExprList', 'exprList', 'exprWithParentheses', 'exprListWithParentheses', 'timeFunctionParameters' ], true );
			array_push( $arguments, ...( $is_list ? $this->arguments( $child->get_children() ) : [ $child ] ) );
		}
		return $arguments;
	}

	/** ADDDATE may be called with a number of days. */
	private function shift( string $operation, array $arguments, WP_Parser_Node $node, Rewriting $rewriting ): WP_Parser_Node {
		$unit = isset( $arguments[2] ) ? Unit::text( $arguments[2] ) : "'DAY'";
		return Intervals::moved( $operation, [ $arguments[0], $arguments[1], $unit ], $node, $rewriting );
	}

	/** Returns an argument as a date: a time without one is today's. */
	private static function moment( WP_Parser_Node $argument, Rewriting $rewriting ): WP_Parser_Node {
		return $rewriting->kinds->is_clock( $argument ) ? $rewriting->call( 'mysql_today_at', [ $argument ], $argument ) : $argument;
	}

	/** SQLite's functions compare as MySQL does, unless texts are among them. */
	private function outermost( string $name, array $arguments, WP_Parser_Node $node, Rewriting $rewriting ): WP_Parser_Node {
		foreach ( $arguments as $argument ) {
			$tokens = $argument->get_descendant_tokens();
			if ( 1 === count( $tokens ) && in_array( $tokens[0]->id, [ Lexer::SINGLE_QUOTED_TEXT, Lexer::DOUBLE_QUOTED_TEXT ], true ) ) {
				return $rewriting->call( "mysql_$name", $arguments, $node );
			}
		}
		return $rewriting->call( 'greatest' === $name ? 'max' : 'min', $arguments, $node );
	}

	/** Whether the call is one side of a comparison: strings of documents are compared without their quotes. */
	private function is_compared( Rewriting $rewriting ): bool {
		foreach ( array_reverse( $rewriting->above ) as $node ) {
			if ( 'boolPri' === $node->rule_name && $node->has_child_node( 'compOp' ) ) {
				return true;
			}
			if ( true === $node->get_first_child_node( 'predicateOperations' )?->has_child_token( Lexer::IN_SYMBOL ) ) {
				return true;
			}
			if ( 1 !== count( $node->get_children() ) ) {
				return false;
			}
		}
		return false;
	}

	/** @param WP_Parser_Node[] $arguments */
	private function hex( array $arguments, WP_Parser_Node $node, Rewriting $rewriting ): WP_Parser_Node {
		$bits = Literals::bits( $rewriting->kinds->core( $arguments[0] ) );
		if ( null !== $bits ) {
			return $rewriting->sequence( [ "'" . strtoupper( bin2hex( $bits ) ) . "'" ], $node );
		}
		$call = $rewriting->call( 'mysql_hex', $arguments, $node );
		return Large_Numbers::is_small( $arguments[0] )
			? $call
			: $rewriting->sequence( [ 'iif(typeof(', $arguments[0], ") = 'integer', printf('%X', ", $arguments[0], '), ', $call, ')' ], $node );
	}

	/**
	 * SQLite rounds no digits before the point. The factor makes up for decimals that have no exact binary form: 1.005 is
	 * kept as a little less, and is to become 1.01.
	 */
	private function round( array $arguments, WP_Parser_Node $node, Rewriting $rewriting ): WP_Parser_Node {
		$tokens = isset( $arguments[1] ) ? $arguments[1]->get_descendant_tokens() : [];
		if ( [] === $tokens || ( 1 === count( $tokens ) && Lexer::INT_NUMBER === $tokens[0]->id ) ) {
			$rounded = [ 'round((', $arguments[0], ') * 1.0000000000000002, ', $tokens[0] ?? '0', ')' ];
			return Known_Results::is_repeatable( $node )
				? $rewriting->sequence( [ 'iif(typeof(', $arguments[0], ") = 'integer', ", $arguments[0], ', ', ...$rounded, ')' ], $node )
				: $rewriting->sequence( $rounded, $node );
		}
		return Large_Numbers::call( $rewriting, 'mysql_round', $arguments, $node );
	}
}

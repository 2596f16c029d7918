// SPDX-License-Identifier: Apache-2.0
package io.isolde.statement;

import org.apache.cassandra.service.QueryState;
import org.apache.cassandra.transport.Dispatcher;

/** The request that a statement came with. */
public record ClientRequest(QueryState state, Dispatcher.RequestTime requestTime) {}

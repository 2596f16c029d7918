// SPDX-License-Identifier: Apache-2.0
/**
 * Sends requests on strong keyspaces to the nodes that lead. What leads is learned from answers:
 * see {@link io.isolde.client.routing.Leaders}. The only place that touches the driver's internals
 * for it is {@link io.isolde.client.routing.RoutedContext}.
 */
package io.isolde.client.routing;

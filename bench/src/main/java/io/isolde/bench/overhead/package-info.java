// SPDX-License-Identifier: Apache-2.0
/**
 * What the plugin costs those who use little of it: plain tables, tables that keep their past,
 * timed messages.
 */
package io.isolde.bench.overhead;

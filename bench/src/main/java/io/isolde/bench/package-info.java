// SPDX-License-Identifier: Apache-2.0
/**
 * Benchmarks that anybody can run: {@link io.isolde.bench.Benches} lists them. Each package below
 * has one subject; {@code kit}, {@code charts} and {@code nodes} are what all of them are made of.
 */
package io.isolde.bench;

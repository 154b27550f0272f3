"""Numerical routines that every paper shares."""
